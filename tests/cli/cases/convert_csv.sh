"$ROCKIT" convert fix/kernels_7.0.csv -o out.csv && cat out.csv
"$ROCKIT" convert fix/kernels_7.0.csv -f csv -o - | cmp - out.csv
"$ROCKIT" convert fix/run --table memcpy -f csv -o -
