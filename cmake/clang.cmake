# Toolchain: clang under whatever name the distribution gives it, 14 first.
find_program(ROCKIT_CLANG NAMES clang-14 clang clang-18 clang-19 clang-17 clang-16 clang-15
             REQUIRED)
set(CMAKE_C_COMPILER "${ROCKIT_CLANG}")
