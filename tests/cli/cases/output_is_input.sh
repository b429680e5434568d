# What a run is read from is never written over, by whatever name it is called.
cp fix/run/*kernel_trace.csv k.csv
cp k.csv kept.csv
ln -s k.csv link.json
try() {
	"$ROCKIT" "$@" >/dev/null
	echo "$1 $?"
}
try convert k.csv -o k.csv
try convert k.csv -f perfetto -o ./k.csv
try convert k.csv -o link.json
try report k.csv --html k.csv
try report k.csv --format json -o k.csv
try metrics k.csv -o k.csv
try diff k.csv kept.csv -o kept.csv
cmp k.csv kept.csv && echo the same
# Parquet holds the same when it is written again
try convert k.csv -o k.parquet
try convert k.parquet -o k.parquet
try convert k.parquet -f chrome -o k.parquet
# two documents in one stream are neither
try report k.csv --html - --format json
try report k.csv --html - --hotspots
try report k.csv --html -
