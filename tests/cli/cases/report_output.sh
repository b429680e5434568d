# -o: a file that appears whole; - is stdout.
"$ROCKIT" report fix/kernels_7.0.csv --format json -o out.json && ls
"$ROCKIT" report fix/kernels_7.0.csv --format json >direct
cmp out.json direct
"$ROCKIT" report fix/kernels_7.0.csv --format json -o - | cmp - direct
