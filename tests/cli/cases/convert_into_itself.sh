# Tables that are written beside what they were made from count once.
cp -r fix/run r
rows() {
	"$ROCKIT" report --format json r 2>/dev/null | grep -o '"kernel_rows":[0-9]*'
}
rows
"$ROCKIT" convert -q r -o r/
rows
