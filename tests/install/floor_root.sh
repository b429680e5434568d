#!/bin/sh
# floor_root.sh - tarball and wheel run, from where they are unpacked, on a system older than this.
#
# Debian 11 has glibc 2.31, with threads and dlopen in libraries of their own as in 2.28. Of a
# system with 2.28 itself no packages are left on the mirrors: for that floor.py reads versions.
. "$ROCKIT_SOURCE_DIR/tests/install/libroot.sh"
[ "${ROCKIT_TEST_FULL:-}" = 1 ] || skip "for make test-full"
machine=$(uname -m)
tarball=$(find "$dist" -name "rockit-*-linux-$machine.tar.gz" 2>/dev/null | sort | tail -n 1)
[ -n "$tarball" ] || skip "no tarball: make tarball"
make_root bullseye root python3

mkdir -p "root/opt/some where"
tar -C "root/opt/some where" --strip-components=1 -xf "$tarball"
"$GEN_TRACE" --rows 500 --dir root/tmp/trace --rocpd root/tmp/trace.db >/dev/null || fail "no trace to read"
find root/tmp/trace -name '*kernel_trace.csv' -exec gzip {} +
top="/opt/some where"
rockit="$top/bin/rockit"

check "the root is older than this system" in_root root sh -c 'ldd --version | grep -q " 2[.]31"'
check "the command says its version" in_root root "$rockit" version
check "it reads a trace" in_root root "$rockit" report /tmp/trace --format json
check "it reads a database" in_root root "$rockit" report /tmp/trace.db --format json
check "it writes Parquet" in_root root "$rockit" convert /tmp/trace -o /tmp/out.parquet
check "it reads Parquet" in_root root "$rockit" report /tmp/out.parquet
check "it writes a page" in_root root "$rockit" report /tmp/trace --html /tmp/out.html
in_root root "$rockit" report /tmp/trace --format json | sed 's|/tmp/trace|trace|g' >there.json
(cd root/tmp && "$ROCKIT" report trace --format json) >here.json
check "it says the same as here" cmp there.json here.json
check "it finds its collectors" in_root root sh -c "
	'$rockit' run --tool opencl --dry-run -d /tmp/none -- true | grep -q librockit-opencl.so"
for collector in opencl cupti; do
	# shellcheck disable=SC2016 # for the shell in there
	check "the $collector collector can be loaded" in_root root sh -c '
		ln -sf "'"$top"'/lib/rockit/librockit-'$collector'.so" /tmp/c.so &&
		out=$(LD_PRELOAD=/tmp/c.so /bin/true 2>&1) && test -z "$out"'
done
check "the library can be loaded" in_root root sh -c '
	ln -sf "'"$top"'/lib/librockit.so.1" /tmp/l.so && out=$(LD_PRELOAD=/tmp/l.so /bin/true 2>&1) &&
	test -z "$out"'

wheel=$(find "$dist" -name "rockit-*-manylinux*_$machine.whl" 2>/dev/null | sort | tail -n 1)
if [ -n "$wheel" ]; then
	mkdir root/tmp/wheel
	cp "$wheel" root/tmp/rockit.whl
	check "the wheel unpacks" in_root root python3 -m zipfile -e /tmp/rockit.whl /tmp/wheel
	check "an old Python reads a trace with it" in_root root env PYTHONPATH=/tmp/wheel python3 -c '
import rockit
with rockit.open("/tmp/trace") as run:
    assert len(run["kernels"]) == 500, len(run["kernels"])'
fi
finish root
