# A trace that is written beside what it was made from counts once, whatever it is called.
rows() {
	"$ROCKIT" report --format json "$1" 2>/dev/null | grep -o '"kernel_rows":[0-9]*'
}
cp -r fix/run r
rows r
"$ROCKIT" convert -q r -f perfetto -o r/
"$ROCKIT" convert -q r -o r/view.json
rows r
"$ROCKIT" convert -q r -f perfetto -o r/ # again: our own trace may be replaced
rows r
# alone, or named, it is the run
mkdir alone
cp r/trace.pftrace alone/
rows alone
rows r/view.json
# in a folder above the passes too
mkdir -p p/pmc_1
cp fix/run/*.csv p/pmc_1/
"$ROCKIT" convert -q p -f perfetto -o p/all.pftrace
rows p
