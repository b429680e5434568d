# A rank's table that turns out to be damaged while it is read: the others stand.
mkdir tables
"$ROCKIT" convert fix/run -o tables/ -q
for r in 0 1 2; do
	mkdir -p job/rank-$r good/rank-$r
	cp tables/rocprof_kernels.parquet job/rank-$r
	cp tables/rocprof_kernels.parquet good/rank-$r
done
printf '\377\377\377\377\377\377\377\377\377\377' |
	dd of=job/rank-1/rocprof_kernels.parquet bs=1 seek=4 conv=notrunc 2>/dev/null
"$ROCKIT" report --by rank --format json job | grep -o '"rank":[0-9][0-9]*' | sort | uniq -c
"$ROCKIT" metrics --format csv job | wc -l
"$ROCKIT" diff --gate 10 good job >text; echo $?
sed -n '/^Ranks/,$p' text
"$ROCKIT" report --html page.html -q job && grep -c '<html' page.html
"$ROCKIT" convert job -o all.parquet; echo $?
ls all.parquet 2>&1
