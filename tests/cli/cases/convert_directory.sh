# One file per table that has rows.
"$ROCKIT" convert -v fix/run -o out/ && ls out
"$ROCKIT" convert fix/kernels_7.0.csv -o kernels.parquet && head -c 4 kernels.parquet && echo
ls
