# A dispatch whose times were not recorded is a call, and moves no span.
cp fix/run/4242_kernel_trace.csv k.csv
"$ROCKIT" report --format json k.csv >before.json
tail -n 1 k.csv | awk -F, -v OFS=, '{ n = NF - 11; $(n - 1) = 0; $n = 0; print }' >>k.csv
tail -n 1 k.csv
"$ROCKIT" report --format json k.csv >after.json
times='"min_start_ns":[0-9]*,"max_end_ns":[0-9]*'
grep -o "$times" before.json >before
grep -o "$times" after.json | diff before - && cat before
"$ROCKIT" report -q --html page.html k.csv >/dev/null
grep -o '"origin_ns": *"[0-9]*"' page.html
"$ROCKIT" diff k.csv k.csv | grep -i wall
# nothing but such rows: a span of nothing
{ head -n 1 k.csv && tail -n 1 k.csv; } >lost.csv
"$ROCKIT" report lost.csv
