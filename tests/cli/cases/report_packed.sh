# The kind is found by content, packed or not, whatever the name.
for tool in gzip xz zstd; do
	command -v $tool >/dev/null || continue
	$tool -c <fix/kernels_7.0.csv >packed
	"$ROCKIT" report --format csv packed >$tool.csv || echo "$tool failed"
	"$ROCKIT" report --format csv fix/kernels_7.0.csv | cmp - $tool.csv
done
