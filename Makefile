# A short front for CMake: the work is in CMakePresets.json and tools/.
JOBS ?= $(shell nproc)
# Some tests wait most of the time.
TEST_JOBS ?= $(shell expr $(JOBS) + $(JOBS) / 2)
PREFIX ?= /usr/local
DEMO_ROWS ?= 200000
FUZZ_SECONDS ?= 60
EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || echo 0))

all: build

# Only what it shows: the tests of the release build would take twice as long.
run: setup-build
	@cmake --preset release --log-level=NOTICE
	@cmake --build --preset release -j $(JOBS) --target demo
	sh tools/demo.sh build/release $(DEMO_ROWS)

build: setup-build build-dev

# What the tests need is fetched while the compiler is at work.
test: setup-build
	@sh tools/setup.sh test & setup=$$!; $(MAKE) --no-print-directory build-dev && wait $$setup
	@$(MAKE) --no-print-directory build-dev build-asan
	ctest --preset dev -j $(TEST_JOBS) $(if $(ROCKIT_TEST_FULL),,-LE 'twice|full')
	ctest --preset asan -j $(TEST_JOBS)

# The same and more: 25 times the mutations, thread sanitizer, release build, a minute of fuzzing
# per target; packages are made, installed on bare roots and run there.
test-full: export ROCKIT_TEST_FULL = 1
test-full: export ROCKIT_MUTATIONS = 5000
test-full: deb tarball tarball-aarch64 wheel test build-tsan build-release fuzz
	ctest --preset asan-long -j $(TEST_JOBS)
	ctest --preset tsan -j $(TEST_JOBS)
	ctest --preset release -j $(TEST_JOBS)

asan: setup-test build-asan
	ctest --preset asan -j $(TEST_JOBS)

# A shell in which programs of a Debian suite with AMD's runtime run on a virtual GPU (docs/virtual-gpu.md).
SUITE ?= trixie
CHIP ?= gfx942
GPUS ?= 1
vgpu-shell: setup-build
	@cmake --preset dev --log-level=NOTICE >&2
	@cmake --build --preset dev -j $(JOBS) --target vgpu vgpu-device >&2
	@SUITE=$(SUITE) CHIP=$(CHIP) GPUS=$(GPUS) sh tests/vgpu/shell build/dev/vgpu

fuzz: setup-test build-fuzz
	sh tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

bench: setup-bench build-release
	build/venv/bin/python tests/bench/bench.py --build build/release --work build/bench $(BENCH)

# The Python package in build/dist, for any Linux with glibc 2.28. WHEEL=release: for this one alone;
# WHEEL=floor-aarch64: for ARM.
WHEEL ?= floor
wheel: $(if $(filter floor%,$(WHEEL)),setup-floor,setup-build) build-$(WHEEL)
	SOURCE_DATE_EPOCH=$(EPOCH) python3 tools/make-wheel --from build/$(WHEEL)

# docs/img: pictures of the manual, made in a real browser.
pictures: setup-test build-release
	ROCKIT=build/release/rockit APP=build/release/example-inference node tools/pictures.mjs

format: setup-test
	sh tools/format.sh

install: setup-build build-release
	cmake --install build/release --prefix $(PREFIX)

# For others: build/dist gets a package for this system, a folder for any Linux with glibc 2.28, and
# a list of checksums. The same commit gives the same bytes.
deb: setup-deb build-deb
	cd build/deb && SOURCE_DATE_EPOCH=$(EPOCH) cpack -G DEB

tarball: setup-floor build-floor
	sh tools/make-tarball build/floor build/dist $(EPOCH)

tarball-aarch64 tarball-x86_64: tarball-%: setup-floor build-floor-%
	sh tools/make-tarball build/floor-$* build/dist $(EPOCH)

dist: deb tarball wheel
	cd build/dist && sha256sum *.deb *.tar.gz *.whl >SHA256SUMS

clean:
	rm -rf build

setup-%:
	@sh tools/setup.sh $*

build-%:
	@cmake --preset $* --log-level=NOTICE
	@cmake --build --preset $* -j $(JOBS)

.NOTPARALLEL:
.PHONY: all run build test test-full asan vgpu-shell fuzz bench wheel pictures format install deb tarball dist clean
