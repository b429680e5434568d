# Ended by a signal it is done; killed, what it has written is whole lines.
. "$CASES/lib_fake_gpus.sh"
# A parent may ignore signals, as nohup does. A shell cannot undo that, but env can.
reset=
if env --default-signal=HUP,TERM true 2>/dev/null; then
	reset="env --default-signal=HUP,TERM"
elif grep -q '^SigIgn:.*[13579bdf]$' /proc/self/status; then
	echo "SIGHUP is ignored" >&2
	exit 77
fi
lines() {
	while [ "$(cat "$1"/gpu_info_power_profiler_output.csv 2>/dev/null | wc -l)" -lt 4 ]; do
		sleep 0.02
	done
}
$reset "$ROCKIT" monitor --interval 5 -d term 2>term.err & lines term; kill -TERM $!; wait $!; echo $?
settle <term.err
$reset "$ROCKIT" monitor --interval 5 -d hup 2>hup.err & lines hup; kill -HUP $!; wait $!; echo $?
settle <hup.err
# What a shell has told a job to ignore stays ignored: SIGINT for one with &.
$reset "$ROCKIT" monitor --interval 5 -d kill 2>kill.err & lines kill; kill -INT $!; sleep 0.1; kill -KILL $!
wait $! 2>/dev/null; echo $?
for f in kill/*; do tail -c 1 "$f" | od -An -c; awk -F, '{ print NF }' "$f" | sort -u; done
cat kill.err
# A signal goes on to the program.
$reset "$ROCKIT" monitor --interval 5 -q -d child -- sh -c \
	'exec 2>/dev/null; trap "echo told; exit 9" TERM; : >armed; while :; do sleep 0.02; done' &
lines child; until [ -e armed ]; do sleep 0.02; done; kill -TERM $!; wait $!; echo $?
