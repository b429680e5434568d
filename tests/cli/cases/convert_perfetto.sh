# A run as a Perfetto trace, and as Chrome's events: what is read back is what was there.
tables() { # of a file or directory, as lines without the columns that say who wrote them
	"$ROCKIT" convert "$1" -f csv -o "$2/" -q
	for table in rocprof_kernels memcpy api; do
		sed -E 's/,[a-z0-9-]*,[a-z]*(,,,,,,,,|,context_id,graph_id,graph_node_id,collective,comm_group,comm_size,comm_seq,submit_ns)?$//' "$2/$table.csv" | sort >"$2/$table.txt"
	done
}
"$ROCKIT" convert fix/run -o run.pftrace -v 2>&1 | grep wrote
"$ROCKIT" convert fix/run -o run.json -q
"$ROCKIT" convert fix/run -f perfetto -o - -q | cmp - run.pftrace && echo same on stdout
tables fix/run had
tables run.pftrace perfetto
tables run.json chrome
for table in rocprof_kernels memcpy api; do
	cmp had/$table.txt perfetto/$table.txt && echo "$table as before"
done
cut -d, -f1-12 had/rocprof_kernels.txt >had/names
cut -d, -f1-12 chrome/rocprof_kernels.txt | cmp - had/names && echo kernels of Chrome as before
"$ROCKIT" convert fix/run -f perfetto -o out/ -q && ls out
"$ROCKIT" convert fix/run --table api -o api.pftrace -q && "$ROCKIT" report api.pftrace --format json -q |
	grep '"tables"'
