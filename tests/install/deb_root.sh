#!/bin/sh
# deb_root.sh - the package installs on a bare root of this Debian, runs there, and goes again.
. "$ROCKIT_SOURCE_DIR/tests/install/libroot.sh"
[ "${ROCKIT_TEST_FULL:-}" = 1 ] || skip "for make test-full"
deb=$(find "$dist" -name 'rockit_*.deb' 2>/dev/null | sort | tail -n 1)
[ -n "$deb" ] || skip "no package: make deb"
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
make_root "$release" root

cp "$deb" root/tmp/rockit.deb
cp /etc/resolv.conf root/etc/resolv.conf
"$GEN_TRACE" --rows 500 --dir root/tmp/trace >/dev/null || fail "no trace to read"

check "the package says what it needs" sh -c "dpkg-deb -f '$deb' Depends | grep -q 'libc6 (>= '"
check "it has a sum for every file" sh -c "
	test \$(dpkg-deb -I '$deb' md5sums | wc -l) = \$(dpkg-deb -c '$deb' | grep -c '^-')"
check "it holds no path of the build" sh -c "! dpkg-deb --fsys-tarfile '$deb' | grep -aqF '$source_dir'"
in_root root apt-get -qq update >apt.log 2>&1
check "it installs with its dependencies" \
	in_root root apt-get -qq install -y --no-install-recommends /tmp/rockit.deb
check "the command says its version" in_root root rockit version
check "it reads a trace" in_root root rockit report /tmp/trace --format json
check "it writes Parquet" in_root root rockit convert /tmp/trace -o /tmp/out.parquet
check "it finds its collectors" in_root root sh -c '
	rockit run --tool opencl --dry-run -d /tmp/none -- true | grep -q /lib/.*/rockit/librockit-opencl.so'
for collector in opencl cupti; do
	# shellcheck disable=SC2016 # for the shell in there
	check "the $collector collector can be loaded" in_root root sh -c '
		so=$(dpkg -L rockit | grep librockit-'$collector'.so) && out=$(LD_PRELOAD=$so /bin/true 2>&1) &&
		test -z "$out"'
done
check "the shared library is known to the loader" in_root root sh -c 'ldconfig -p | grep -q librockit.so.1'
check "manual pages are packed" in_root root sh -c 'dpkg --contents /tmp/rockit.deb | grep -q rockit.1.gz'
check "it goes without a trace" in_root root sh -c '
	dpkg -P rockit && ! find /usr -name "*rockit*" | grep .'
finish root
