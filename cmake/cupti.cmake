# The CUPTI collector (librockit-cupti.so): built wherever we are, for it needs nothing of CUDA.
if(TARGET rockit_recorder)
  file(GLOB cupti_sources CONFIGURE_DEPENDS collectors/cupti/*.c)
  rockit_collector(rockit-cupti ${cupti_sources})
  target_link_libraries(rockit-cupti PRIVATE ${CMAKE_DL_LIBS})
  install(TARGETS rockit-cupti LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rockit)
endif()

# A stand-in for the driver and for CUPTI, and a program that uses them. The libraries have the
# names that everybody looks for; tests put them where they want them.
if(ROCKIT_TESTS)
  set(cuda ${PROJECT_SOURCE_DIR}/tests/sim/cuda)
  set(place ${PROJECT_BINARY_DIR}/fake-cuda)
  add_library(fake-cuda SHARED ${cuda}/fake_cuda.c)
  set_target_properties(fake-cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1)
  add_library(fake-cupti MODULE ${cuda}/fake_cupti.c)
  add_library(fake-cupti-v2 MODULE ${cuda}/fake_cupti.c)
  add_library(fake-cupti-old MODULE ${cuda}/fake_cupti.c)
  add_library(fake-cupti-lacking MODULE ${cuda}/fake_cupti.c)
  add_library(fake-cupti-range MODULE ${cuda}/fake_cupti_range.c)
  target_link_libraries(fake-cupti-range PRIVATE fake-cuda m)
  target_compile_definitions(fake-cupti-v2 PRIVATE FAKE_V2)
  target_compile_definitions(fake-cupti-old PRIVATE FAKE_OLD)
  target_compile_definitions(fake-cupti-lacking PRIVATE FAKE_LACKS)
  add_executable(fake-cuda-app ${cuda}/fake_cuda_app.c)
  target_link_libraries(fake-cuda-app PRIVATE fake-cuda)
  # CUPTI to link with, found under the name that it has in programs.
  add_library(fake-cupti-linked SHARED ${cuda}/fake_cupti.c)
  set_target_properties(fake-cupti-linked PROPERTIES OUTPUT_NAME cupti SOVERSION 12
                        LIBRARY_OUTPUT_DIRECTORY ${place}/linked POSITION_INDEPENDENT_CODE ON)
  add_executable(fake-own-profiler ${cuda}/fake_own_profiler.c)
  target_link_libraries(fake-own-profiler PRIVATE fake-cuda fake-cupti-linked)
  target_link_options(fake-own-profiler PRIVATE -Wl,-z,relro,-z,now) # its slots are read-only
  set(modules fake-cupti fake-cupti-v2 fake-cupti-old fake-cupti-lacking fake-cupti-range)
  foreach(part ${modules} fake-cuda fake-cuda-app fake-cupti-linked fake-own-profiler)
    target_link_libraries(${part} PRIVATE rockit_flags Threads::Threads ${CMAKE_DL_LIBS})
  endforeach()
  set_target_properties(fake-cuda ${modules} PROPERTIES
                        LIBRARY_OUTPUT_DIRECTORY ${place} POSITION_INDEPENDENT_CODE ON)
  rockit_script_test(cupti-layout sim 120 ${python} ${cuda}/cupti_layout.py)
  rockit_script_test(cupti-range-layout sim 120 ${python} ${cuda}/range_layout.py)
endif()
