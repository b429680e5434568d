# Files of other tools: what took the time, from the seeds of the fuzz targets.
seeds=$CASES/../fuzz/corpus
for file in nsys/rpd.db perfetto/bundled.pftrace xplane/small.xplane.pb trace_json/proton_tree.json \
	trace_json/proton_trace.json; do
	cp "$seeds/$file" .
	"$ROCKIT" report "$(basename $file)"
done
"$ROCKIT" convert -q --table kernels -f csv -o - rpd.db | cut -d , -f 1-9,13,16,17
"$ROCKIT" diff proton_tree.json small.xplane.pb | sed -n 1,4p
