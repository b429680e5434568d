[ "$(id -u)" -ne 0 ] || { echo "root reads everything" >&2; exit 77; }
cp fix/kernels_7.0.csv locked.csv
chmod 0 locked.csv
"$ROCKIT" report locked.csv; echo $?
mkdir closed dir
cp fix/kernels_7.0.csv dir/1_kernel_trace.csv
cp fix/kernels_7.0.csv dir/2_kernel_trace.csv
chmod 0 dir/2_kernel_trace.csv
"$ROCKIT" report --format json dir 2>/dev/null | grep -c unreadable-file
chmod 500 closed
"$ROCKIT" convert fix/kernels_7.0.csv -o closed/out.csv; echo $?
ls -A closed
