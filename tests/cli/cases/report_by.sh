"$ROCKIT" report --by device fix/kernels_7.0.csv
"$ROCKIT" report --by stream --format csv fix/kernels_7.0.csv
"$ROCKIT" report --by rank --format json fix/kernels_6.2.csv | grep '"name"'
