# What others build on: tests/abi. Label: abi. Once, in the plain build.
if(ROCKIT_SANITIZE OR ROCKIT_FUZZ OR NOT CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
  return()
endif()
foreach(name abi consumers)
  rockit_script_test(abi-${name} abi 300 ${python} ${PROJECT_SOURCE_DIR}/tests/abi/${name}.py)
  set_property(TEST abi-${name} APPEND PROPERTY ENVIRONMENT ROCKIT_CC=${CMAKE_C_COMPILER})
endforeach()
# cmake --install writes a list into the build folder: one at a time.
set_property(TEST abi-consumers PROPERTY RESOURCE_LOCK cmake-install)
rockit_script_test(abi-valgrind abi 900 sh ${PROJECT_SOURCE_DIR}/tests/abi/api_valgrind.sh)
