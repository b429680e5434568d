# A slower gemm, a kernel that is called more often, one that is new, one under another name.
. "$CASES/lib_diff_runs.sh"
{ steps 20 10000 500; yes 'tile_64 3000 0 16 0' | head -n 10; } | launches >a.csv
{
	steps 20 12000 300
	yes 'tile_128 2500 0 16 0' | head -n 10
	yes 'softmax 2000 0 8 1' | head -n 10
	yes 'dropout 700 0 8 0' | head -n 20
} | launches >b.csv
COLUMNS=100 "$ROCKIT" diff a.csv b.csv
COLUMNS=100 "$ROCKIT" diff a.csv b.csv --top 2 --color=always | tail -n 12 | od -c | grep -c 033
LC_ALL=C COLUMNS=80 "$ROCKIT" diff b.csv a.csv | head -n 14
"$ROCKIT" diff a.csv a.csv
