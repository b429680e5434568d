# A table as CSV is for other programs: its columns are not taken for counters, nor its rows twice.
cp -r fix/run r
"$ROCKIT" convert -q r -f csv -o r/
"$ROCKIT" report --format json r 2>/dev/null | grep -o '"kernel_rows":[0-9]*'
"$ROCKIT" report r/rocprof_kernels.csv
