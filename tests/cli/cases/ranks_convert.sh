# Folders of ranks as one table, as text, as traces, as a data set: node and rank are in all of them.
for r in 0 1 2; do
	mkdir -p job/rank-0000$r
	cp fix/run/4242_*_trace.csv job/rank-0000$r
	printf '{"schema":1,"rockit":"1","state":"done","rank":%d,"size":3,"node":"n%d","boot_id":"x"}\n' \
		$r $((r / 2)) >job/rank-0000$r/run.json
done
columns() { # of a table in CSV, those of node and rank, counted
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "node") n = NF - i; if ($i == "rank") r = NF - i } }
		NR > 1 { print $(NF - n), $(NF - r) }' | sort | uniq -c
}
"$ROCKIT" convert job -o kernels.csv && columns <kernels.csv
"$ROCKIT" convert job -o copies.csv --table memcpy && columns <copies.csv
"$ROCKIT" convert job -o all.parquet && "$ROCKIT" convert all.parquet -o - -f csv | columns
"$ROCKIT" convert job -o - -f jsonl | grep -o '"node":"[^"]*","rank":[0-9]*' | sort | uniq -c
"$ROCKIT" convert job -o job.tar -f perfetto && tar tf job.tar && tar xOf job.tar perfetto_manifest.json |
	grep -o '"name":"[^"]*"' | sort | uniq -c
"$ROCKIT" convert job -o set --dataset && (cd set && find kernels memcpy -type f | sort)
for input in job all.parquet set; do
	"$ROCKIT" report --by rank --format csv $input 2>/dev/null | sort >$input.by
	"$ROCKIT" report --format json $input 2>/dev/null | grep -o '"nodes": *[0-9]*'
done
cmp job.by set.by && echo the same
"$ROCKIT" diff --gate 0 --structure job set | tail -n 2
