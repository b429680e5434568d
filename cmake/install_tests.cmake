# Tests of the installed tree and the packages: tests/install. Label: install. Once, in the plain build:
# what needs build/dist (make deb tarball) is skipped but in `make test-full`.
if(ROCKIT_SANITIZE OR ROCKIT_FUZZ OR NOT CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
  return()
endif()
list(APPEND script_env ROCKIT_CC=${CMAKE_C_COMPILER})
foreach(name install_tree floor_symbols floor)
  string(REPLACE "_" "-" dashed install_${name})
  string(REPLACE "install-install" "install" dashed ${dashed})
  rockit_script_test(${dashed} "install;long" 600 ${python}
                     ${PROJECT_SOURCE_DIR}/tests/install/${name}.py)
endforeach()
foreach(name deb_root floor_root)
  string(REPLACE "_" "-" dashed install_${name})
  string(REPLACE "install-install" "install" dashed ${dashed})
  rockit_script_test(${dashed} "install;long" 1200 sh
                     ${PROJECT_SOURCE_DIR}/tests/install/${name}.sh)
endforeach()
# cmake --install writes a list into the build folder: one at a time.
set_property(TEST install-tree PROPERTY RESOURCE_LOCK cmake-install)
