"$ROCKIT" report fix/counters.csv
"$ROCKIT" report --format json fix/counters.csv | grep -E 'kernel_rows|SQ_WAVES|GRBM'
