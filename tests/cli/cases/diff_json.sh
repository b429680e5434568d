# JSON, complete: every part is there and the sums hold (the awk adds them up).
. "$CASES/lib_diff_runs.sh"
steps 3 10000 500 | launches >a.csv
{ steps 4 11000 100; echo 'dropout 700 0 8 0'; } | launches >b.csv
"$ROCKIT" diff a.csv b.csv --format json -o diff.json
cat diff.json
for whole in gpu wall; do
	awk -v whole="\"$whole\":" '
		$1 == whole { on = 1 }
		on && /"part":/ { sub(/.*"delta_ns": */, ""); sum += $0 + 0; next }
		on && /"delta_ns":/ { sub(/.*: */, ""); all = $0 + 0 }
		on && /\]/ { print whole, all == sum ? "sums" : "does not sum", all, sum; exit }' diff.json
done
"$ROCKIT" diff a.csv b.csv --format markdown
