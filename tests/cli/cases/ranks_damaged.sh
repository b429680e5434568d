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
"$ROCKIT" report --by rank --format json all.parquet | grep -o '"rank":[0-9][0-9]*' | sort | uniq -c
"$ROCKIT" convert job -f csv -o - >all.csv; echo $? $(wc -l <all.csv)
"$ROCKIT" convert job -o dir/; echo $? $(ls dir)
"$ROCKIT" convert job -o job.tar; echo $?
tar -tf job.tar
tar -xOf job.tar perfetto_manifest.json | grep -o '"path":"[^"]*"'
# a job is collected all the same
for r in 0 1 2; do
	echo "{\"schema\":1,\"rockit\":\"1.0.0\",\"state\":\"done\",\"job\":\"7\",\"node\":\"n$r\",\"rank\":$r,\"size\":3}" \
		>job/rank-$r/run.json
done
"$ROCKIT" slurm collect job >/dev/null; echo $?
grep -o "\"kind\": \"broken\", .*" job/run.json
# nothing is left
rm -r job/rank-0 job/rank-2
"$ROCKIT" convert job -o none.parquet; echo $?
ls none.parquet 2>&1
"$ROCKIT" convert job -o none.tar; echo $?
ls none.tar 2>&1
