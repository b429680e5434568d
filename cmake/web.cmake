# The page of `rockit report --html`: the files of web/ travel inside the library as they are, and
# src/html/html_page.c joins them. No Node is needed for that.
file(GLOB web_files CONFIGURE_DEPENDS web/*)
set(web_source ${PROJECT_BINARY_DIR}/web_files.c)
add_custom_command(OUTPUT ${web_source}
                   COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/web -DSYMBOL=rk_web_files
                           -DOUT=${web_source} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
                   DEPENDS ${web_files} cmake/embed.cmake VERBATIM)
