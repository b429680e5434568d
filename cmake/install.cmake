# Where things go: command, library, headers, manual pages, completions, pkg-config file.
if(TARGET rockit)
  install(TARGETS rockit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS librockit ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rockit)

file(GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

if(EXISTS ${PROJECT_SOURCE_DIR}/completions/rockit.bash)
  install(FILES completions/rockit.bash RENAME rockit
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/completions/_rockit)
  install(FILES completions/_rockit DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/completions/rockit.fish)
  install(FILES completions/rockit.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# The prefix is found from the file's own place, so that `cmake --install --prefix` is right too.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/rockit.pc.in rockit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rockit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
