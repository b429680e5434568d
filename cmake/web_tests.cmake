# The page of reports: its modules by themselves (tests/web) and in a browser (tests/browser). Both
# need Node, the second playwright-core and Chromium, too: tools/setup.sh installs them.
find_program(ROCKIT_NODE NAMES node nodejs)
if(NOT ROCKIT_NODE OR NOT TARGET rockit)
  message(STATUS "No Node: tests of the page are left out")
  return()
endif()

file(GLOB scripts CONFIGURE_DEPENDS tests/web/*.mjs)
rockit_script_test(web-modules web 300 ${ROCKIT_NODE} --test ${scripts})
# A browser does not look into rockit: once is enough.
if(ROCKIT_SANITIZE)
  return()
endif()
file(GLOB scripts CONFIGURE_DEPENDS tests/browser/*.mjs)
list(FILTER scripts EXCLUDE REGEX "/lib[^/]*\\.mjs$")
foreach(script ${scripts})
  get_filename_component(name ${script} NAME_WE)
  rockit_script_test(browser-${name} browser 600 ${ROCKIT_NODE} ${script})
  set_property(TEST browser-${name} APPEND PROPERTY ENVIRONMENT
               GEN_COUNTERS=${PROJECT_BINARY_DIR}/gen-counters
               ROCKIT_SCREENSHOTS=${PROJECT_SOURCE_DIR}/build/screenshots)
endforeach()
