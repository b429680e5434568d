# What only the library knows to be misuse.
"$ROCKIT" convert fix/kernels_7.0.csv -o out.xyz; echo $?
"$ROCKIT" convert fix/kernels_7.0.csv -o out.csv --table kernel; echo $?
# two formats would be two files
"$ROCKIT" convert fix/kernels_7.0.csv -f csv -f parquet -o out; echo $?
"$ROCKIT" convert fix/kernels_7.0.csv -o a.csv -o b.parquet; echo $?
"$ROCKIT" convert fix/kernels_7.0.csv -f csv -f csv -o out.csv; echo $?
ls
