# Where things go: command, library, headers, manual pages, completions, pkg-config file, documents.
# Collectors are installed where they are built. Nothing of it holds the prefix: the tree may be moved.
if(TARGET rockit)
  install(TARGETS rockit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# With the other libraries linked in (cmake/zig-floor.cmake), the shared library needs none of them,
# and an archive would be of no use.
set(libraries librockit_shared)
set(pkg_configs rockit)
if(ROCKIT_FLOOR_DEPS)
  set(rockit_modules)
else()
  list(APPEND libraries librockit)
  list(APPEND pkg_configs rockit-static)
endif()
install(TARGETS ${libraries} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rockit)

file(GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

include(cmake/completion.cmake)

# The prefix is found from the file's own place, so that `cmake --install --prefix` is right too.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
list(JOIN rockit_modules " " rockit_modules)
foreach(pc ${pkg_configs})
  configure_file(cmake/${pc}.pc.in ${pc}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

include(CMakePackageConfigHelpers)
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rockit)
file(RELATIVE_PATH cmake_to_prefix /${cmake_dir} /)
configure_file(cmake/rockit-config.cmake.in rockit-config.cmake @ONLY)
write_basic_package_version_file(rockit-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rockit-config.cmake
              ${PROJECT_BINARY_DIR}/rockit-config-version.cmake DESTINATION ${cmake_dir})

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB documents CONFIGURE_DEPENDS docs/*.md)
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
# Libraries that were linked in bring their licenses, also into the wheel.
if(ROCKIT_FLOOR_DEPS)
  file(CREATE_LINK ${ROCKIT_FLOOR_DEPS}/licenses ${PROJECT_BINARY_DIR}/licenses SYMBOLIC)
  install(DIRECTORY ${ROCKIT_FLOOR_DEPS}/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
