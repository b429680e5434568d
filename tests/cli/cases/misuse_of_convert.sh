# What only the library knows to be misuse.
"$ROCKIT" convert fix/kernels_7.0.csv -o out.xyz; echo $?
"$ROCKIT" convert fix/kernels_7.0.csv -o out.csv --table kernel; echo $?
ls
