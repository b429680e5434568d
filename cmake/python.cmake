# The Python package: its wheel from this build, in two fresh environments, and its tests there.
# Label: python. Not with a sanitizer: Python itself has none. See docs/python.md.
if(ROCKIT_SANITIZE OR NOT TARGET rockit OR NOT python)
  return()
endif()

set(venvs ${PROJECT_BINARY_DIR}/python)
list(APPEND script_env ROCKIT_VENVS=${venvs})
rockit_script_test(python-venv python 120 ${python} ${PROJECT_SOURCE_DIR}/tests/python/make_venv.py
                   ${PROJECT_BINARY_DIR} ${venvs})
set_tests_properties(python-venv PROPERTIES FIXTURES_SETUP python-venv)
foreach(name plain sessions wheel frames)
  set(kind plain)
  if(name STREQUAL frames)
    set(kind full)
  endif()
  # by `env`: ctest looks for programs before there are environments
  rockit_script_test(python-${name} python 300 ${CMAKE_COMMAND} -E env ${venvs}/${kind}/bin/python
                     ${PROJECT_SOURCE_DIR}/tests/python/${name}.py)
  set_tests_properties(python-${name} PROPERTIES FIXTURES_REQUIRED python-venv)
endforeach()
