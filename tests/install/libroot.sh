# libroot.sh - a bare root of a Debian release, to run things in. For sourcing; SCRIPT is its name.
#
# Made once with debootstrap and kept below build/roots; each test works in a copy. Needs root and
# a mirror; a test that has neither is skipped.
source_dir=${ROCKIT_SOURCE_DIR:?}
dist=$source_dir/build/dist
failed=0 passed=0

skip() {
	echo "skipped: $*"
	exit 77
}

ok() {
	passed=$((passed + 1))
	echo "ok   $*"
}

fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
}

check() { # what to print, then a command that succeeds
	said=$1
	shift
	if "$@" >check.log 2>&1; then
		ok "$said"
	else
		fail "$said"
		sed 's/^/# /' check.log | tail -n 20
	fi
}

mirror_of() { # where this system's packages come from
	sed -n -e 's/^URIs: *\([^ ]*\).*/\1/p' -e 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' \
		/etc/apt/sources.list /etc/apt/sources.list.d/debian.sources \
		/etc/apt/sources.list.d/ubuntu.sources 2>/dev/null | head -n 1
}

# make_root RELEASE FOLDER [PACKAGE] - a copy of its bare root, with a package more; skips the test
# where none can be made.
make_root() {
	[ "${ROCKIT_TEST_FULL:-}" = 1 ] || skip "for make test-full"
	[ "$(id -u)" = 0 ] || skip "not root"
	command -v debootstrap >/dev/null || skip "no debootstrap"
	unshare -m true 2>/dev/null || skip "no mounts of our own"
	kept=$source_dir/build/roots/$1${3:+-$3}.tar
	if [ ! -e "$kept" ]; then
		mkdir -p "$source_dir/build/roots"
		rm -rf root-part
		debootstrap --variant=minbase ${3:+"--include=$3"} "$1" root-part "$(mirror_of)" >debootstrap.log 2>&1 || {
			tail -n 3 debootstrap.log
			rm -rf root-part
			skip "no root of $1 to be had"
		}
		rm -rf root-part/var/cache/apt/archives/*.deb
		tar -C root-part -cf "$kept.part" . && mv "$kept.part" "$kept"
		rm -rf root-part
	fi
	rm -rf "$2"
	mkdir -p "$2"
	tar -C "$2" -xf "$kept"
}

# in_root FOLDER COMMAND... - with /proc, which goes when the command ends, and nothing of this
# system's environment.
in_root() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive unshare -m sh -c '
			mount --bind /proc "$1/proc" && exec chroot "$@"' in_root "$@"
}

finish() {
	rm -rf "$@"
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
	exit
}
