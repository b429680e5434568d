# librockit, twice from one set of objects: librockit.a, which our own programs are linked with, and
# librockit.so.N, which exports what cmake/rockit.map names and nothing else.
add_library(rockit_objects OBJECT ${lib_sources} ${public_headers} ${data_source} ${web_source})
set_target_properties(rockit_objects PROPERTIES POSITION_INDEPENDENT_CODE ON
                      C_VISIBILITY_PRESET hidden)
target_link_libraries(rockit_objects PRIVATE rockit_flags)

set(rockit_needs PkgConfig::ROCKIT_DEPS Threads::Threads ${CMAKE_DL_LIBS} m) # what both are linked with
set(rockit_modules zlib liblzma libzstd sqlite3) # the same for those who link the archive
if(YAML_FOUND)
  target_compile_definitions(rockit_objects PRIVATE ROCKIT_HAVE_YAML)
  list(APPEND rockit_needs PkgConfig::YAML)
  list(APPEND rockit_modules yaml-0.1)
endif()
if(PACK_FOUND)
  list(APPEND rockit_needs PkgConfig::PACK)
  list(APPEND rockit_modules libarchive)
endif()
if(DEFLATE_FOUND)
  target_compile_definitions(rockit_objects PRIVATE ROCKIT_HAVE_LIBDEFLATE)
  list(APPEND rockit_needs PkgConfig::DEFLATE)
  list(APPEND rockit_modules libdeflate)
endif()
target_link_libraries(rockit_objects PRIVATE ${rockit_needs})

add_library(librockit STATIC $<TARGET_OBJECTS:rockit_objects>)
add_library(librockit_shared SHARED $<TARGET_OBJECTS:rockit_objects>)
foreach(library librockit librockit_shared)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME rockit LINKER_LANGUAGE C)
  target_include_directories(${library} INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${library} PRIVATE rockit_flags ${rockit_needs})
endforeach()

set(rockit_soversion 1)
set(map ${PROJECT_SOURCE_DIR}/cmake/rockit.map)
set_target_properties(librockit_shared PROPERTIES VERSION ${PROJECT_VERSION}
                      SOVERSION ${rockit_soversion} LINK_DEPENDS ${map})
target_link_options(librockit_shared PRIVATE -Wl,--version-script=${map})
include(CheckLinkerFlag)
check_linker_flag(C -Wl,-z,text ROCKIT_HAVE_Z_TEXT) # zig's linker does it without being told
if(ROCKIT_HAVE_Z_TEXT)
  target_link_options(librockit_shared PRIVATE -Wl,-z,text)
endif()
if(NOT ROCKIT_SANITIZE) # their symbols come from the program
  target_link_options(librockit_shared PRIVATE -Wl,-z,defs)
endif()
