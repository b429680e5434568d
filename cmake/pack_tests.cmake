# Tests of `rockit pack`, where it is built: programs of tests/tools/pack, scripts of tests/elf and
# tests/pack. Label: pack.
if(NOT PACK_FOUND)
  return()
endif()

file(GLOB pack_tools CONFIGURE_DEPENDS tests/tools/pack/*.c)
foreach(source ${pack_tools})
  get_filename_component(name ${source} NAME_WE)
  string(REPLACE "_" "-" name ${name})
  add_executable(${name} ${source})
  # what launchers start is plain: a sanitizer would not do without /proc
  if(NOT name STREQUAL show-args)
    target_link_libraries(${name} PRIVATE rockit_flags librockit)
  endif()
endforeach()

# tests/*/lib*.py are parts of other scripts; make_*.py make input.
list(APPEND script_env ELF_TOOL=${PROJECT_BINARY_DIR}/elf-tool MAKE_ELF=${PROJECT_BINARY_DIR}/make-elf
     PACK_PROVE=${PROJECT_BINARY_DIR}/pack-prove SHOW_ARGS=${PROJECT_BINARY_DIR}/show-args
     ROCKIT_CC=${CMAKE_C_COMPILER})
foreach(folder elf pack)
  file(GLOB scripts CONFIGURE_DEPENDS tests/${folder}/*.py)
  list(FILTER scripts EXCLUDE REGEX "/(lib|make_)[^/]*\\.py$")
  if(ROCKIT_SANITIZE) # pip and Python at work, but for what pack_build.py does as well
    list(FILTER scripts EXCLUDE REGEX "/pack_(install|expand)\\.py$")
  endif()
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    string(REPLACE "_" "-" name ${name})
    set(label pack)
    if(name MATCHES "^(pack-build|elf-edit|pack-expand|pack-install)$") # minutes with sanitizers: in test-full
      set(label pack long)
    endif()
    rockit_script_test(${folder}-${name} "${label}" 600 ${python} ${script})
  endforeach()
endforeach()
