# Run by CPack over the files of a Debian package before they are packed: what policy asks of them.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/man/*)
file(GLOB changelog ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/rockit/CHANGELOG.md)
set(docs ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/rockit)
if(changelog)
  file(RENAME ${changelog} ${docs}/changelog)
  list(APPEND pages ${docs}/changelog)
endif()
if(pages)
  execute_process(COMMAND gzip -9 -n -f ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(RENAME ${docs}/LICENSE ${docs}/copyright)
# Where Debian's zsh looks.
set(zsh ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/zsh)
if(EXISTS ${zsh}/site-functions)
  file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
endif()

# The same tree gives the same package, byte for byte.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${CPACK_TEMPORARY_INSTALL_DIRECTORY} -exec touch -h -d
                          @$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
endif()
