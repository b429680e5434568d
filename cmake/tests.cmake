# The tests. Labels: unit, cli, fuzz-replay, lint, readers. Exit status 77 means skipped.
#
# Scripts see ROCKIT (the command), GEN_TRACE, ROCKIT_UNIT, ROCKIT_SOURCE_DIR and ROCKIT_PYTHON
# in their environment and start in a folder of their own.
set(ROCKIT_PYTHON "" CACHE FILEPATH "Python with duckdb, polars and pyarrow")
set(python "${ROCKIT_PYTHON}")
if(NOT python)
  find_program(ROCKIT_SYSTEM_PYTHON NAMES python3)
  set(python "${ROCKIT_SYSTEM_PYTHON}")
  if(EXISTS ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
    set(python ${PROJECT_SOURCE_DIR}/build/venv/bin/python)
  endif()
endif()

# Limits are for a machine that is busy with other things; sanitizers make programs slower.
set(slow 1)
if(ROCKIT_SANITIZE MATCHES thread)
  set(slow 8)
elseif(ROCKIT_SANITIZE)
  set(slow 4)
endif()
function(rockit_test_limit name seconds)
  math(EXPR limit "${seconds} * ${slow}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit})
endfunction()

# Leaks are looked for where a test is one process of ours; the scripts' children are stopped and
# traced by others.
set(leaks)
if(ROCKIT_SANITIZE MATCHES address AND NOT ROCKIT_FUZZ)
  set(leaks ASAN_OPTIONS=detect_leaks=1)
endif()
file(GLOB unit_sources CONFIGURE_DEPENDS tests/unit/*.c)
if(NOT PACK_FOUND)
  list(FILTER unit_sources EXCLUDE REGEX "/((elf|pack)_|artifact|content|glibc)[^/]*$")
endif()
if(unit_sources)
  add_executable(rockit-unit ${unit_sources})
  target_include_directories(rockit-unit PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # The library has the flags of its build; the tests themselves compile three times as fast without.
  target_compile_options(rockit-unit PRIVATE -O0)
  # Only where they are used: the other objects are the same in every folder, which compiler caches like.
  set_source_files_properties(tests/unit/metric_golden.c PROPERTIES COMPILE_DEFINITIONS
                              ROCKIT_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
  set_source_files_properties(tests/unit/nvml.c tests/unit/doctor_nvidia.c PROPERTIES COMPILE_DEFINITIONS
                              ROCKIT_SIM_DIR="${PROJECT_BINARY_DIR}/sim")
  target_link_libraries(rockit-unit PRIVATE rockit_flags librockit PkgConfig::ROCKIT_DEPS
                        Threads::Threads)
  add_dependencies(rockit-unit child-probe) # it plays the children
  # In pieces, so that all cores have something to do; each takes some seconds.
  set(shards 12)
  foreach(shard RANGE 1 ${shards})
    add_test(NAME unit-${shard} COMMAND rockit-unit --shard ${shard}/${shards})
    set_tests_properties(unit-${shard} PROPERTIES LABELS "unit;twice" ENVIRONMENT "${leaks}" COST 100)
    rockit_test_limit(unit-${shard} 300)
  endforeach()
endif()

# Tools of the tests, a program a file: tests/tools/gen_trace.c is gen-trace. Only gen-trace has
# more parts, in tests/tools/gen. yajl-scan, for comparison, is built where yajl is.
pkg_check_modules(YAJL QUIET IMPORTED_TARGET yajl)
file(GLOB tool_sources CONFIGURE_DEPENDS tests/tools/*.c tests/tools/parquet/*.c)
foreach(source ${tool_sources})
  get_filename_component(name ${source} NAME_WE)
  string(REPLACE "_" "-" name ${name})
  if(name STREQUAL yajl-scan AND NOT YAJL_FOUND)
    continue()
  endif()
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE rockit_flags librockit PkgConfig::ROCKIT_DEPS m)
  if(name STREQUAL yajl-scan)
    target_link_libraries(${name} PRIVATE PkgConfig::YAJL)
  endif()
endforeach()
file(GLOB gen_sources CONFIGURE_DEPENDS tests/tools/gen/*.c)
target_sources(gen-trace PRIVATE ${gen_sources})

# Small files of every kind the generator knows: every replay reads them besides its corpus.
set(seeds ${PROJECT_BINARY_DIR}/seeds)
file(MAKE_DIRECTORY ${seeds})
if(ROCKIT_SANITIZE)
  add_test(NAME seeds COMMAND gen-trace --rows 12 --dir ${seeds} --api --rocpd ${seeds}/small.db)
  set_tests_properties(seeds PROPERTIES LABELS fuzz-replay FIXTURES_SETUP seeds)
endif()

# Each fuzz target is built with a main that replays files wherever there are sanitizers to see what goes
# wrong, and with libFuzzer on request.
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
if(NOT ROCKIT_SANITIZE)
  set(fuzz_sources)
endif()
if(NOT PACK_FOUND)
  list(FILTER fuzz_sources EXCLUDE REGEX "/fuzz_(elf|pack|artifacts)[^/]*$")
endif()
file(GLOB corpora CONFIGURE_DEPENDS LIST_DIRECTORIES true tests/fuzz/corpus/*)
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  string(REPLACE "fuzz_" "" name ${name})
  string(REPLACE "_" "-" dash ${name})
  add_executable(replay-${dash} ${source} tests/fuzz/replay_main.c)
  target_link_libraries(replay-${dash} PRIVATE rockit_flags librockit PkgConfig::ROCKIT_DEPS)
  set(inputs ${corpora})
  list(FILTER inputs INCLUDE REGEX "/${name}$")
  add_test(NAME replay-${dash} COMMAND replay-${dash} ${inputs} ${seeds})
  set_tests_properties(replay-${dash} PROPERTIES LABELS fuzz-replay FIXTURES_REQUIRED seeds
                       ENVIRONMENT "${leaks}")
  rockit_test_limit(replay-${dash} 300)
  if(ROCKIT_FUZZ)
    add_executable(fuzz-${dash} ${source})
    target_link_libraries(fuzz-${dash} PRIVATE rockit_flags librockit PkgConfig::ROCKIT_DEPS)
    target_link_options(fuzz-${dash} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()

set(script_env ROCKIT_SOURCE_DIR=${PROJECT_SOURCE_DIR} ROCKIT_PYTHON=${python}
    ROCKIT_UNIT=${PROJECT_BINARY_DIR}/rockit-unit ROCKIT=${PROJECT_BINARY_DIR}/rockit
    GEN_TRACE=${PROJECT_BINARY_DIR}/gen-trace LC_ALL=C.UTF-8)

# The longest start first, so that no core is idle at the end.
set(long_tests "^(pack-pack-(install|build)|run-(opencl|slurm|recorder|faults)|browser-.*|elf-elf-edit|readers-(recorded.*|parquet_readers))$")

function(rockit_script_test name label timeout)
  set(folder ${PROJECT_BINARY_DIR}/scratch/${name})
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${folder})
  # make test runs these under the sanitizers only, make test-full in both builds
  if(label MATCHES "^(run|pack|sim)$")
    list(APPEND label twice)
  endif()
  # minutes, and parts of them are in other tests: make test-full
  if(name MATCHES "^(pack-pack-(install|expand)|elf-elf-edit|readers-(recorded_diff|trace_processor))$" OR
     name MATCHES "^(browser-recorded|run-(live|presets)|vgpu-calls-trixie)$")
    list(APPEND label full)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${label}" SKIP_RETURN_CODE 77
                       ENVIRONMENT "${script_env}")
  if(name MATCHES "${long_tests}")
    set_tests_properties(${name} PROPERTIES COST 200)
  endif()
  rockit_test_limit(${name} ${timeout})
endfunction()

include(cmake/sim.cmake)

if(TARGET rockit)
  # tests/cli/lib*.sh are parts of other scripts.
  file(GLOB scripts CONFIGURE_DEPENDS tests/cli/*.sh)
  list(FILTER scripts EXCLUDE REGEX "/lib[^/]*\\.sh$")
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    set(label cli)
    if(ROCKIT_SANITIZE) # the same commands as in the other build: under the sanitizers in test-full
      list(APPEND label long)
    endif()
    rockit_script_test(cli-${name} "${label}" 600 sh ${script})
  endforeach()
  # Independent programs read what rockit wrote, and say what recorded profiler output holds.
  file(GLOB scripts CONFIGURE_DEPENDS tests/readers/*.py)
  list(FILTER scripts EXCLUDE REGEX "/lib[^/]*\\.py$")
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    set(label readers)
    # the same C code as in other tests, seen through programs that take their time
    if(name MATCHES "^(dataset|parquet_readers|recorded|recorded_diff|trace_processor)$")
      set(label readers long)
    endif()
    rockit_script_test(readers-${name} "${label}" 600 ${python} ${script})
  endforeach()
endif()

# The manual: what it says and shows is tried. Once is enough: it looks at words, not at memory.
if(TARGET rockit AND NOT ROCKIT_SANITIZE)
  file(GLOB scripts CONFIGURE_DEPENDS tests/docs/*.py)
  list(FILTER scripts EXCLUDE REGEX "/lib[^/]*\\.py$")
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    rockit_script_test(docs-${name} docs 600 ${python} ${script})
  endforeach()
endif()

include(cmake/web_tests.cmake)
include(cmake/pack_tests.cmake)
include(cmake/install_tests.cmake)
include(cmake/vgpu.cmake)
include(cmake/abi_tests.cmake)
include(cmake/python.cmake)

foreach(check layers banned format man tree words)
  if(EXISTS ${PROJECT_SOURCE_DIR}/tools/check-${check})
    rockit_script_test(check-${check} lint 120 ${PROJECT_SOURCE_DIR}/tools/check-${check}
                       ${PROJECT_SOURCE_DIR})
  endif()
endforeach()
if(EXISTS ${PROJECT_SOURCE_DIR}/tools/check-selftest.sh)
  rockit_script_test(check-selftest lint 120 sh ${PROJECT_SOURCE_DIR}/tools/check-selftest.sh)
endif()
