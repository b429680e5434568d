# Files whose times cannot be compared give a warning in every command; files of one clock do not.
torch() { # FILE
	printf '[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%s,"dur":2}]' 5 >"$1"
}
clocks() {
	echo "- $*"
	"$ROCKIT" "$@" 2>&1 >/dev/null | grep 'cannot be compared' || true
}
torch a.json
torch b.json
clocks report a.json b.json
clocks report a.json
clocks convert a.json b.json -o two.csv
clocks convert a.json b.json -o two.pftrace
clocks metrics a.json b.json
clocks report a.json fix/run
# parts of a table may be one file's
"$ROCKIT" convert -q a.json -o part-1.parquet
cp part-1.parquet part-2.parquet
clocks report part-1.parquet part-2.parquet
clocks report part-1.parquet a.json
# runs of one machine, and of one that was started again
for r in one two again; do
	mkdir $r
	cp fix/run/4242_kernel_trace.csv $r
	boot=x && [ $r = again ] && boot=y
	printf '{"schema":1,"rockit":"1","state":"done","node":"n","boot_id":"%s"}\n' $boot >$r/run.json
done
clocks report one two
clocks report one again
