# Whatever a report takes: statistics without rows, directories, packed files, one kernel.
. "$CASES/lib_diff_runs.sh"
"$ROCKIT" diff fix/kernel_stats.csv fix/kernel_stats.csv
sed 's/"gemm(float\*)",3,9000000000/"gemm(float*)",4,9000000000/; s/"fill.*//' fix/kernel_stats.csv >stats.csv
"$ROCKIT" diff -q fix/kernel_stats.csv stats.csv --gate 5
echo "status $?"
"$ROCKIT" diff -q --structure fix/kernel_stats.csv stats.csv
echo "status $?"
"$ROCKIT" diff -q fix/run fix/run
echo 'one 5 0 1 0' | launches | gzip >one.csv.gz
echo 'one 7 0 1 0' | launches >other.csv
"$ROCKIT" diff one.csv.gz other.csv
"$ROCKIT" convert -q fix/run -o tables/
"$ROCKIT" diff -q fix/run tables | head -n 4
"$ROCKIT" diff nowhere other.csv
echo "status $?"
# names are hostile text
echo '|<script>`[x](y)*_' 5 0 1 0 | launches >bad.csv
"$ROCKIT" diff other.csv bad.csv -f markdown | grep script
