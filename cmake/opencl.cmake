# The OpenCL layer (librockit-opencl.so), the bundled example and the layer's test programs. The
# layer needs headers that know layers (opencl-headers 3.0); programs need a loader to link with.
find_path(ROCKIT_OPENCL_INCLUDE CL/cl_layer.h)
find_library(ROCKIT_OPENCL_LIBRARY NAMES OpenCL)
mark_as_advanced(ROCKIT_OPENCL_INCLUDE ROCKIT_OPENCL_LIBRARY)

if(ROCKIT_OPENCL_INCLUDE AND TARGET rockit_recorder)
  file(GLOB opencl_sources CONFIGURE_DEPENDS collectors/opencl/*.c)
  rockit_collector(rockit-opencl ${opencl_sources})
  target_include_directories(rockit-opencl SYSTEM PRIVATE ${ROCKIT_OPENCL_INCLUDE})
  target_link_libraries(rockit-opencl PRIVATE ${CMAKE_DL_LIBS})
  install(TARGETS rockit-opencl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rockit)
endif()

# The program that `make run` profiles.
if(ROCKIT_OPENCL_INCLUDE AND ROCKIT_OPENCL_LIBRARY)
  add_executable(example-inference examples/inference.c)
  target_include_directories(example-inference SYSTEM PRIVATE ${ROCKIT_OPENCL_INCLUDE})
  target_link_libraries(example-inference PRIVATE rockit_flags ${ROCKIT_OPENCL_LIBRARY} m)
endif()

# Programs for the tests of the layer: cl-cases has many parts, the others a file each.
if(ROCKIT_TESTS AND ROCKIT_OPENCL_INCLUDE AND ROCKIT_OPENCL_LIBRARY)
  set(tools ${PROJECT_SOURCE_DIR}/tests/tools/opencl)
  add_library(cl-world STATIC ${tools}/cl_world.c)
  target_include_directories(cl-world SYSTEM PUBLIC ${ROCKIT_OPENCL_INCLUDE})
  target_link_libraries(cl-world PRIVATE rockit_flags)
  target_link_libraries(cl-world PUBLIC librockit ${ROCKIT_OPENCL_LIBRARY})
  file(GLOB case_sources CONFIGURE_DEPENDS ${tools}/cl_case*.c)
  add_executable(cl-cases ${case_sources})
  foreach(name rate endless dlopen fake)
    add_executable(cl-${name} ${tools}/cl_${name}.c)
  endforeach()
  target_sources(cl-fake PRIVATE ${tools}/cl_fake_runtime.c)
  foreach(name cases rate endless)
    target_link_libraries(cl-${name} PRIVATE rockit_flags cl-world Threads::Threads)
  endforeach()
  # These two get their OpenCL by dlopen, or have none at all.
  foreach(name dlopen fake)
    target_include_directories(cl-${name} SYSTEM PRIVATE ${ROCKIT_OPENCL_INCLUDE})
    target_link_libraries(cl-${name} PRIVATE rockit_flags Threads::Threads ${CMAKE_DL_LIBS})
  endforeach()
endif()
