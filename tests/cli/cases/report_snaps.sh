# Copies of a window below a run directory do not count with it, but can be read by their own names.
mkdir -p run/rocprof_raw run/snap-001/rocprof_raw run/snap-x
for d in run run/snap-001; do
	cp fix/kernels_7.0.csv $d/rocprof_raw/kernel_trace.csv
	echo '{"schema": 1, "rockit": "1.1.0", "state": "done", "ledger": {}}' >$d/run.json
done
calls() {
	"$ROCKIT" report -f json "$1" 2>/dev/null | grep -o '"kernel_rows":[0-9]*'
}
calls run
calls run/snap-001
# another folder is not one of ours
cp run/rocprof_raw/kernel_trace.csv run/snap-x/other.csv
"$ROCKIT" report -f json run 2>/dev/null | grep -o 'snap-[a-z0-9]*' | sort -u
