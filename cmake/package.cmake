# What `make deb` packs: all that is installed, for the system that it is built on. The tarball for
# all others is tools/make-tarball's.
set(ROCKIT_MAINTAINER "rockit contributors <rockit@users.invalid>" CACHE STRING
    "Who answers for the Debian package")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rockit)
set(CPACK_PACKAGE_CONTACT "${ROCKIT_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profile GPU programs, convert and compare their traces")
set(CPACK_PACKAGE_DESCRIPTION
    "rockit drives the profilers of ROCm, records OpenCL and CUDA programs with collectors of its
own, reads what all of them write, and gives Parquet, Perfetto, reports, metrics and comparisons.
The package has the command, the C library with its headers, and the collectors.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The loader's cache, and what a package needs that links the library: the release that it was
# built with, for later ones of the same number only add to it.
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs "librockit 1 rockit (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers
    ${PROJECT_BINARY_DIR}/debian/shlibs)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ocl-icd-libopencl1, rocprofiler-sdk")
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_SOURCE_DIR}/build/dist)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/deb_files.cmake)
include(CPack)
