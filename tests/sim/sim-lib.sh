# sim-lib.sh - what the tests with the stand-in share; sourced by them.
# shellcheck shell=sh
#
# ROCKIT_SIM and ROCKIT name the programs, ROCKIT_SOURCE_DIR the tree. Makes a folder of its own below
# the current one, goes there, and makes ROCm trees of six releases in it.
set -u
: "${ROCKIT_SIM:?}" "${ROCKIT:?}" "${ROCKIT_SOURCE_DIR:?}"
unset RANK LOCAL_RANK SLURM_PROCID OMPI_COMM_WORLD_RANK ROCPROF_OUTPUT_FORMAT ROCPROF_OUTPUT_PATH
unset ROCKIT_SIM_VERSION ROCKIT_SIM_FAULT ROCKIT_SIM_RANKS ROCKIT_SIM_ARCH ROCKIT_SIM_LOG
make_tree="$ROCKIT_SOURCE_DIR/tests/sim/make-tree.sh"
here=$PWD/sim.$$
count=0 failed=0
mkdir "$here" && cd "$here" || exit 1
trap 'cd / && rm -rf "$here"' EXIT
here=$(pwd -P)

# check NAME CONDITION...: one test.
check() {
	name=$1
	shift
	count=$((count + 1))
	if "$@"; then
		return 0
	fi
	failed=$((failed + 1))
	echo "not ok $count - $name"
	echo "  did not hold: $*"
	[ ! -s err ] || sed 's/^/  stderr: /' err | tail -3
	return 1
}

# Runs a tool in a fresh folder w; its streams are in out and err, its status in $status.
run() {
	rm -rf w && mkdir w
	# not exec: the shell's own word about a signal goes to err as well
	(cd w && "$@" >../out 2>../err && exit 0) 2>>err
	status=$?
}

# expect STATUS TOOL WORD...: run, and the status is this.
expect() {
	want=$1
	shift
	run "$@"
	check "$(echo "$*" | sed "s,$here/opt/,,") ends with $want" [ "$status" -eq "$want" ]
}

# The one file of folder w whose name ends so.
file() {
	find w -type f -name "*$1" | sort | head -n 1
}
files() {
	find w -type f | wc -l
}
header() {
	head -n 1 "$(file "$1")"
}
columns() {
	header "$1" | tr -cd , | wc -c
}
says() {
	grep -q -- "$1" err out
}
exist() {
	for f; do
		[ -e "$f" ] || return 1
	done
}
# rows N [DIR]: rockit counts N kernels and warns of nothing.
rows() {
	"$ROCKIT" report --format json "${2:-w}" >report.json 2>report.err &&
		grep -q "\"kernel_rows\":$1," report.json && grep -q '"warnings":\[\]' report.json &&
		[ ! -s report.err ]
}
refuses() {
	! rows "$@"
}
table() {
	grep -q "\"$1\":$2[,}]" report.json
}

for version in 6.1.0 6.2.0 6.3.0 6.4.1 7.0.0 7.13.0; do
	sh "$make_tree" "$here" $version >>trees || exit 1
done
bin() {
	echo "$here/opt/rocm-$1/bin"
}

# The last line of a test.
finish() {
	echo "$1: $count checks, $failed failed"
	[ $failed -eq 0 ]
}
