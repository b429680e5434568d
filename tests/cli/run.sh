#!/bin/sh
# run.sh [--update] [NAME...] - the command line, case by case.
#
# cases/NAME.sh runs in a folder of its own, where `fix` is fixtures/ and $ROCKIT the command. What
# it prints and its exit status must be as in NAME.stdout, NAME.stderr and NAME.status; a file that
# is missing means nothing printed, or 0. --update writes those files again.
set -u
here=$(cd "$(dirname "$0")" && pwd)
update=
if [ "${1:-}" = --update ]; then
	update=yes
	shift
fi
case ${ROCKIT:?names the command to test} in
/*) ;;
*) ROCKIT=$PWD/$ROCKIT ;;
esac
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
unset COLUMNS NO_COLOR TMPDIR
LC_ALL=C.UTF-8 TERM=dumb CASES=$here
export ROCKIT LC_ALL TERM CASES

# What a case printed against what it should: NAME stdout|stderr|status
compare() {
	want=$here/cases/$1.$2
	if [ -n "$update" ]; then
		if [ "$2" != status ] && [ ! -s "$temp/$2" ] || [ "$(cat "$temp/$2")" = 0 ]; then
			rm -f "$want"
		else
			cp "$temp/$2" "$want"
		fi
		return 0
	fi
	if [ ! -e "$want" ]; then
		want=$temp/none
		: >"$want"
		[ "$2" = status ] && echo 0 >"$want"
	fi
	diff -u "$want" "$temp/$2" >"$temp/diff" && return 0
	sed "1,2d; s/^/# $2: /" "$temp/diff"
	return 1
}

[ $# -gt 0 ] || set -- "$here"/cases/*.sh
passed=0 failed=0 skipped=0
for case in "$@"; do
	name=$(basename "$case" .sh)
	mkdir "$temp/case" || exit 1
	ln -s "$here/fixtures" "$temp/case/fix"
	(cd "$temp/case" && exec sh "$here/cases/$name.sh") \
		>"$temp/stdout" 2>"$temp/stderr" </dev/null
	rc=$?
	echo $rc >"$temp/status"
	rm -rf "$temp/case"
	if [ $rc -eq 77 ]; then
		echo "skip $name: $(cat "$temp/stderr")"
		skipped=$((skipped + 1))
		continue
	fi
	good=yes
	for what in status stdout stderr; do
		compare "$name" $what || good=
	done
	if [ -n "$good" ]; then
		echo "ok   $name"
		passed=$((passed + 1))
	else
		echo "FAIL $name"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
