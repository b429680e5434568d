# The ROCm collector (librockit-rocm.so): built wherever we are, for it needs nothing of ROCm.
if(TARGET rockit_recorder)
  file(GLOB rocm_sources CONFIGURE_DEPENDS collectors/rocm/*.c)
  rockit_collector(rockit-rocm ${rocm_sources})
  target_link_libraries(rockit-rocm PRIVATE ${CMAKE_DL_LIBS})
  install(TARGETS rockit-rocm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rockit)
endif()

# AMD's own runtime over the virtual GPU, with the collector: the ledger of the device against what was recorded.
if(ROCKIT_TESTS AND TARGET vgpu)
  set(suites trixie)
  if(DEFINED ENV{ROCKIT_TEST_FULL})
    set(suites trixie,sid,experimental,trixie-large)
  endif()
  foreach(script collect calls verbs)
    rockit_script_test(vgpu-${script} vgpu 1800 ${python} ${PROJECT_SOURCE_DIR}/tests/vgpu/${script}.py)
    set_property(TEST vgpu-${script} APPEND PROPERTY ENVIRONMENT VGPU_SUITES=${suites}
                 VGPU_BUILD=${PROJECT_BINARY_DIR}/vgpu)
  endforeach()
endif()
