# A virtual AMD GPU (tests/vgpu): a library that takes the place of the kernel driver in a process, so
# that AMD's own runtime runs where there is no card. For x86-64, as Debian's ROCm packages are.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  return()
endif()

set(vgpu_sources)
foreach(name counters device intercept kernels kfd ledger memory queue sdma)
  list(APPEND vgpu_sources tests/vgpu/${name}.c)
endforeach()
if(ROCKIT_SANITIZE STREQUAL thread) # whose own open and mmap cannot be replaced
  list(REMOVE_ITEM vgpu_sources tests/vgpu/intercept.c)
endif()

add_executable(vgpu-device tests/vgpu/make_device.c)
add_executable(vgpu-test tests/vgpu/device_test.c ${vgpu_sources})
set(vgpu_targets vgpu-device vgpu-test)
if(NOT ROCKIT_SANITIZE)
  add_library(vgpu MODULE ${vgpu_sources} tests/vgpu/exec.c)
  list(APPEND vgpu_targets vgpu)
endif()
foreach(target ${vgpu_targets})
  set_target_properties(${target} PROPERTIES C_EXTENSIONS ON
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/vgpu
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/vgpu)
  target_link_libraries(${target} PRIVATE rockit_flags Threads::Threads ${CMAKE_DL_LIBS})
endforeach()

rockit_script_test(vgpu-device vgpu 300 sh -c
                   "rm -rf gpu && \"$1/vgpu-device\" gpu gfx942 && VGPU_DEVICE=gpu \"$1/vgpu-test\""
                   sh ${PROJECT_BINARY_DIR}/vgpu)
if(ROCKIT_SANITIZE)
  return()
endif()

rockit_script_test(vgpu-get-suite vgpu 120 sh ${PROJECT_SOURCE_DIR}/tests/vgpu/get_suite.sh
                   ${PROJECT_SOURCE_DIR}/tests/vgpu/get-suite)

# Cases are in scripts: of the device (vgpu.py), and of the ROCm collector (see rocm.cmake). In make test the
# stable suite, and of the newest, which changes, what shows that the interface is the same; in make test-full
# all suites and cases, with the large programs. They wait a lot: the sooner they start, the better.
file(STRINGS tests/vgpu/COUNT vgpu_counts)
function(rockit_vgpu_test script suite)
  set(name vgpu-${script}-${suite})
  rockit_script_test(${name} vgpu 1800 ${python} ${PROJECT_SOURCE_DIR}/tests/vgpu/${script}.py ${ARGN})
  string(REGEX MATCH "${script} ${suite} ([0-9]+)" count "${vgpu_counts}")
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT VGPU_SUITES=${suite}
               VGPU_BUILD=${PROJECT_BINARY_DIR}/vgpu VGPU_COUNT=${CMAKE_MATCH_1})
  set_tests_properties(${name} PROPERTIES COST 200)
endfunction()
rockit_vgpu_test(vgpu trixie)
if(DEFINED ENV{ROCKIT_TEST_FULL})
  foreach(suite sid experimental trixie-large sid-large)
    rockit_vgpu_test(vgpu ${suite})
  endforeach()
else()
  rockit_vgpu_test(vgpu experimental matrix joined copies without_hip counters)
endif()
