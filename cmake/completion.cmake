# Completion scripts: the command prints them from its own tables. Left out where it cannot run.
set(foreign OFF)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR
   AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(foreign ON)
endif()
if(TARGET rockit AND NOT foreign AND NOT ROCKIT_SANITIZE AND NOT ROCKIT_FUZZ)
  set(place ${PROJECT_BINARY_DIR}/completions)
  file(MAKE_DIRECTORY ${place})
  set(scripts)
  foreach(shell bash:rockit:bash-completion/completions zsh:_rockit:zsh/site-functions
          fish:rockit.fish:fish/vendor_completions.d)
    string(REPLACE ":" ";" shell ${shell})
    list(GET shell 1 file)
    list(GET shell 2 folder)
    list(GET shell 0 shell)
    add_custom_command(OUTPUT ${place}/${file} COMMAND rockit completion ${shell} > ${place}/${file}
                       DEPENDS rockit VERBATIM)
    install(FILES ${place}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
    list(APPEND scripts ${place}/${file})
  endforeach()
  add_custom_target(completions ALL DEPENDS ${scripts})
endif()
