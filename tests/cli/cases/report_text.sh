"$ROCKIT" report fix/kernels_7.0.csv
"$ROCKIT" report fix/kernels_6.2.csv
COLUMNS=80 "$ROCKIT" report fix/kernels_7.0.csv
LC_ALL=C "$ROCKIT" report --top 1 fix/kernels_7.0.csv
