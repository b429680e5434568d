# Toolchain: zig's clang and linker, for a Linux with glibc 2.28 or newer (RHEL 8, SLES 15 SP3,
# Ubuntu 20.04 and all later ones) on x86-64 or, by -DROCKIT_FLOOR_MACHINE=aarch64, on ARM.
#
# The compiler is what `tools/setup.sh floor` put into build/zig. The other libraries are linked as
# archives out of this system's packages: tools/floor-deps says how.
set(ROCKIT_FLOOR_GLIBC 2.28)
cmake_host_system_information(RESULT floor_host QUERY OS_PLATFORM)
set(ROCKIT_FLOOR_MACHINE ${floor_host} CACHE STRING "Machine to build for: x86_64 or aarch64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROCKIT_FLOOR_MACHINE)
get_filename_component(floor_build ${CMAKE_CURRENT_LIST_DIR}/../build ABSOLUTE)
set(ROCKIT_FLOOR_DEPS ${floor_build}/floor-deps/${ROCKIT_FLOOR_MACHINE})

get_property(floor_inner GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT floor_inner)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../tools/floor-deps ${ROCKIT_FLOOR_MACHINE}
                          ${ROCKIT_FLOOR_DEPS} RESULT_VARIABLE floor_failed)
  if(floor_failed OR NOT EXISTS ${floor_build}/zig/zig-cc)
    message(FATAL_ERROR "no compiler or no libraries: run 'sh tools/setup.sh floor' first")
  endif()
endif()

set(CMAKE_C_COMPILER ${floor_build}/zig/zig-cc)
set(CMAKE_C_COMPILER_TARGET ${ROCKIT_FLOOR_MACHINE}-linux-gnu.${ROCKIT_FLOOR_GLIBC})
set(CMAKE_AR ${floor_build}/zig/zig-ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${floor_build}/zig/zig-ranlib CACHE FILEPATH "")
# Any processor, not the one that this is; no sanitizer, which zig adds unasked when it does not
# optimise; no name of the folder that this was built in. The warnings are those of a newer clang
# than the one that the tree is kept clean with.
set(CMAKE_C_FLAGS_INIT "-mcpu=baseline -fno-sanitize=undefined -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. \
-Wno-enum-float-conversion -Wno-enum-compare-conditional")
# zig's own runtime library has a memcpy, an exp and others that would be taken instead of those of
# the C library, which are faster by far and exact. gcc's has what compilers need and no more.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-s -rtlib=none")
endforeach()
set(CMAKE_C_STANDARD_LIBRARIES ${ROCKIT_FLOOR_DEPS}/lib/libgcc.a)

set(CMAKE_FIND_ROOT_PATH ${ROCKIT_FLOOR_DEPS})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${ROCKIT_FLOOR_DEPS}/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")

# Programs of another machine need an emulator: the command prints its own completion scripts.
if(NOT floor_host STREQUAL ROCKIT_FLOOR_MACHINE)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${ROCKIT_FLOOR_MACHINE})
  find_program(ROCKIT_FLOOR_QEMU NAMES qemu-${ROCKIT_FLOOR_MACHINE}-static qemu-${ROCKIT_FLOOR_MACHINE})
  if(ROCKIT_FLOOR_QEMU AND EXISTS /usr/${ROCKIT_FLOOR_MACHINE}-linux-gnu/lib)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${ROCKIT_FLOOR_QEMU} -L /usr/${ROCKIT_FLOOR_MACHINE}-linux-gnu)
  endif()
endif()
