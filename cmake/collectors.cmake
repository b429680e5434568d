# Collectors: libraries that are loaded into other people's processes. libc and nothing else.
#
# rockit_recorder is the flight recorder, for linking into each of them; a folder of collectors/
# with sources becomes one library, made by rockit_collector(NAME SOURCES...).
file(GLOB recorder_sources CONFIGURE_DEPENDS collectors/common/*.c)
if(recorder_sources)
  add_library(rockit_recorder STATIC ${recorder_sources})
  target_include_directories(rockit_recorder PUBLIC ${PROJECT_SOURCE_DIR}/collectors/common)
  target_link_libraries(rockit_recorder PRIVATE rockit_flags Threads::Threads)
  set_target_properties(rockit_recorder PROPERTIES POSITION_INDEPENDENT_CODE ON
                        C_VISIBILITY_PRESET hidden)
endif()

# Never unloaded (threads end through it), no symbol but its entry points, none missing. Our own
# objects hide theirs; --exclude-libs does it for the compiler's, with linkers that know it.
include(CheckLinkerFlag)
check_linker_flag(C -Wl,--exclude-libs,ALL ROCKIT_HAVE_EXCLUDE_LIBS)
function(rockit_collector name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE rockit_flags rockit_recorder Threads::Threads)
  set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden)
  target_link_options(${name} PRIVATE -Wl,-z,nodelete)
  if(ROCKIT_HAVE_EXCLUDE_LIBS)
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  endif()
  if(NOT ROCKIT_SANITIZE) # their symbols come from the program
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# Follows ROCTx ranges for rocprofv3 (librockit-range.so); needs nothing of ROCm. The tests have a
# stand-in for ROCTx that prints what it is called for, and a program that calls it.
if(TARGET rockit_recorder)
  rockit_collector(rockit-range collectors/range/range.c)
  target_link_libraries(rockit-range PRIVATE ${CMAKE_DL_LIBS})
  install(TARGETS rockit-range LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rockit)
endif()
if(ROCKIT_TESTS AND TARGET rockit-range)
  add_library(fake-roctx SHARED tests/tools/range/fake_roctx.c)
  add_executable(range-app tests/tools/range/range_app.c)
  target_link_libraries(fake-roctx PRIVATE rockit_flags)
  target_link_libraries(range-app PRIVATE rockit_flags fake-roctx Threads::Threads)
endif()

# The recorder is tested in the programs of the tests.
foreach(program recorder-probe rockit-unit)
  if(TARGET ${program} AND TARGET rockit_recorder)
    target_link_libraries(${program} PRIVATE rockit_recorder)
  endif()
endforeach()
