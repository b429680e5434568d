# tests/sim: one program that imitates the ROCm tools. Its tables are made from text files.
find_program(ROCKIT_AWK NAMES awk REQUIRED)
set(sim ${PROJECT_SOURCE_DIR}/tests/sim)
set(sim_tables)
foreach(table options:rocprofv3-options.txt counters:sim-counters.txt)
  string(REPLACE ":" ";" table ${table})
  list(GET table 0 name)
  list(GET table 1 data)
  set(out ${PROJECT_BINARY_DIR}/sim/sim_${name}_table.c)
  add_custom_command(OUTPUT ${out}
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/sim
                     COMMAND ${ROCKIT_AWK} -f ${sim}/sim-${name}.awk ${sim}/${data} > ${out}
                     DEPENDS ${sim}/sim-${name}.awk ${sim}/${data} VERBATIM)
  list(APPEND sim_tables ${out})
endforeach()
file(GLOB sim_sources CONFIGURE_DEPENDS tests/sim/*.c)
add_executable(rockit-sim ${sim_sources} ${sim_tables})
target_include_directories(rockit-sim PRIVATE ${sim})
target_link_libraries(rockit-sim PRIVATE rockit_flags PkgConfig::ROCKIT_DEPS m)

# Stands in for NVIDIA's management library, as of today and as of long ago. Not sanitized: programs
# that are not load it, too.
foreach(release new old)
  add_library(fake-nvml-${release} SHARED ${sim}/nvml/fake_nvml.c)
  target_compile_definitions(fake-nvml-${release} PRIVATE _GNU_SOURCE
                             $<$<STREQUAL:${release},old>:OLD>)
  target_compile_options(fake-nvml-${release} PRIVATE -Wall -Wextra)
  set_target_properties(fake-nvml-${release} PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim/nvml-${release})
  if(TARGET rockit-unit)
    add_dependencies(rockit-unit fake-nvml-${release})
  endif()
endforeach()

# The part of the CUPTI collector that needs no CUDA to be tested.
if(TARGET rockit-unit)
  target_sources(rockit-unit PRIVATE ${PROJECT_SOURCE_DIR}/collectors/cupti/cup_range.c)
  target_include_directories(rockit-unit PRIVATE ${PROJECT_SOURCE_DIR}/collectors/cupti)
  target_link_libraries(rockit-unit PRIVATE ${CMAKE_DL_LIBS})
endif()

list(APPEND script_env ROCKIT_SIM=${PROJECT_BINARY_DIR}/rockit-sim)

# rockit run against the stand-in: every preset, every release, every fault.
if(TARGET rockit)
  rockit_script_test(sim-selftest sim 300 sh ${sim}/selftest.sh)
  file(GLOB scripts CONFIGURE_DEPENDS tests/run/run_*.py)
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    string(REPLACE "_" "-" name ${name})
    set(label run)
    # real programs on a real runtime, every preset under every release: under ASan in test-full
    if(name MATCHES "^run-(opencl|presets|record|live|cupti|diff|kineto-ranks)$")
      set(label run long)
    endif()
    rockit_script_test(${name} "${label}" 1200 ${python} ${script})
  endforeach()
endif()
rockit_script_test(sim-nvml-layout sim 60 ${python} ${sim}/nvml/nvml_layout.py)
