# Beside a program: its output and status are its own.
. "$CASES/lib_fake_gpus.sh"
"$ROCKIT" monitor -d a -q -- sh -c 'echo out; echo err >&2; exit 7'; echo $?
"$ROCKIT" monitor -d b -q sh -c 'kill -TERM $$'; echo $?
"$ROCKIT" monitor -d c -q -- ./none; echo $?
echo >plain
"$ROCKIT" monitor -d d -q -- ./plain; echo $?
"$ROCKIT" monitor -d e --duration 0.01 -- sh -c 'sleep 0.3; echo longer' 2>&1 | settle
"$ROCKIT" monitor -d f --format json --metrics busy,energy true | settle
cat a/gpu_info_power_profiler_output.csv | cut -d, -f3- | uniq
# A directory that cannot be made keeps it from running.
: >file
"$ROCKIT" monitor -d file/here -- echo never; echo $?
