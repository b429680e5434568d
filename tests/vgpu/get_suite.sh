#!/bin/sh
# get-suite where the network is not needed: what it refuses, what it repairs, and clones at once. The
# stand-in for apt-get logs its calls and "downloads" packages that dpkg-deb makes here.
#
# usage: get_suite.sh GET-SUITE
set -eu
get=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # NAME: the last command's status decides
	if [ "$2" = "$3" ]; then
		echo "ok $1"
	else
		echo "not ok $1: '$2' is not '$3'"
		failed=1
	fi
}

# the status, and whether there was one line that has the words
says() {
	name=$1 want=$2 words=$3
	shift 3
	status=0
	"$@" >"$work/out" 2>"$work/err" || status=$?
	check "$name" "$status $(wc -l <"$work/err") $(grep -c -e "$words" "$work/err")" "$want 1 1"
}

mkdir -p "$work/bin" "$work/debs" "$work/package/DEBIAN" "$work/package/usr/lib/x86_64-linux-gnu"
echo x >"$work/package/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1"
printf 'Package: libhsa-runtime64-1\nVersion: 9\nArchitecture: amd64\nMaintainer: x\nDescription: x\n' \
	>"$work/package/DEBIAN/control"
dpkg-deb -b "$work/package" "$work/debs/libhsa-runtime64-1_9_amd64.deb" >/dev/null
cat >"$work/bin/apt-get" <<'APT'
#!/bin/sh
echo "$*" >>"$WORK/calls"
case " $* " in
*" indextargets "*) echo http://mirror.invalid/debian/ ;;
*" update "*)
	[ -z "${FAIL_UPDATES:-}" ] || [ "$(grep -c update "$WORK/calls")" -gt "$FAIL_UPDATES" ] || {
		echo "E: no route" >&2
		exit 100
	}
	[ -z "${SLOW:-}" ] || /bin/sleep "$SLOW"
	;;
*" --print-uris "*) echo "'http://x/y.deb' libhsa-runtime64-1_9_amd64.deb 1 SHA256:0" ;;
*" download "*) cp "$WORK"/debs/*.deb . ;;
esac
APT
printf '#!/bin/sh\n' >"$work/bin/sleep" # before the second try
chmod +x "$work/bin/"*
export WORK="$work" XDG_CACHE_HOME="$work/cache" PATH="$work/bin:$PATH"
unset ROCKIT_ROCM_ROOT ROCKIT_DEBIAN_MIRROR
: >"$work/calls"

says "an unknown suite is misuse" 2 usage "$get" bullseye
says "a root without libraries is refused" 1 "has no usr/lib" env ROCKIT_ROCM_ROOT=/nowhere "$get" trixie
mkdir -p "$work/root/usr/lib"
check "a root is taken as it is" "$(ROCKIT_ROCM_ROOT=$work/root "$get" trixie)" "$work/root"
mkdir "$work/arm" "$work/none"
printf '#!/bin/sh\necho aarch64\n' >"$work/arm/uname"
chmod +x "$work/arm/uname"
says "another processor is refused" 1 "amd64, this is aarch64" env PATH="$work/arm:$PATH" "$get" trixie
for tool in sh env cat mkdir uname; do
	ln -s "$(command -v $tool)" "$work/none/$tool"
done
says "a system without apt is refused" 1 "no apt-get here" env PATH="$work/none" "$get" trixie
says "two failures of the mirror are reported in one line" 1 "cannot fetch trixie from .*E: no route" \
	env FAIL_UPDATES=99 "$get" trixie
check "nothing is left of it" "$(find "$work/cache/rockit/rocm" -mindepth 1 -not -name '*.lock')" ""

: >"$work/calls"
mkdir -p "$work/cache/rockit/rocm/trixie" "$work/cache/rockit/rocm/.trixie.Killed"
folder=$(FAIL_UPDATES=1 "$get" trixie)
check "one failure is tried again, and a folder that is not complete is replaced" \
	"$(cat "$folder/versions" "$folder/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1")" \
	"libhsa-runtime64-1 9
x"
check "what a killed one left is removed" "$(ls -A "$work/cache/rockit/rocm" | grep -c Killed || true)" 0
: >"$work/calls"
check "the cache is used" "$("$get" trixie) $(wc -l <"$work/calls")" "$folder 0"
rm -r "$folder"
SLOW=1 "$get" trixie >"$work/one" &
first=$!
SLOW=1 "$get" trixie >"$work/two"
wait $first
check "of two clones at once one fetches" "$(grep -c update "$work/calls") $(cat "$work/one" "$work/two" | sort -u)" "1 $folder"
exit $failed
