# Several ranks: one archive with a trace each and a manifest, or one trace with all.
mkdir -p job/rank-00000 job/rank-00003
cp fix/run/4242_*_trace.csv job/rank-00000
cp fix/run/4242_*_trace.csv job/rank-00003
"$ROCKIT" convert job -o job.tar -q
tar -tvf job.tar | awk '{ print $1, $2, $NF }'
tar -xf job.tar
cat perfetto_manifest.json
for file in rank-00000.pftrace rank-00003.pftrace; do
	"$ROCKIT" convert $file -f jsonl -o - -q | tail -n 1 | grep -o '"\(start_ns\|pid\|rank\)":[0-9]*'
done
"$ROCKIT" convert job -o job.pftrace -q
"$ROCKIT" convert job.pftrace -f jsonl -o - -q | grep -o '"\(pid\|rank\)":[0-9]*' | sort | uniq -c |
	sed 's/^ *//'
# ranks that are a column
"$ROCKIT" convert job -o job.parquet -q
"$ROCKIT" convert job.parquet -o again.tar -q && tar -tf again.tar
"$ROCKIT" convert job -f chrome -o job.tar -q
echo $?
cat job.parquet | "$ROCKIT" convert - -o pipe.tar -q
echo $?
