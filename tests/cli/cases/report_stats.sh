# Statistics files: what they describe, and a standard deviation that cannot be right.
"$ROCKIT" report fix/kernel_stats.csv
"$ROCKIT" report -q --format json fix/kernel_stats.csv | grep -E 'kernel_rows|stats_of|gemm|fill'
"$ROCKIT" report --format json fix/domain_stats.csv | grep -E 'kernel_rows|stats_of|HIP_API'
"$ROCKIT" report --format csv fix/domain_stats.csv
# as Parquet only the rows know what they are about
mkdir both && cp fix/kernel_stats.csv fix/domain_stats.csv both/
"$ROCKIT" convert -q both -o both/
"$ROCKIT" report -q both/stats.parquet
"$ROCKIT" report -q both
# later rows are not in the table, and a name alone makes no table
cp fix/kernel_stats.csv both/later_kernel_stats.csv
touch -d '+1 minute' both/later_kernel_stats.csv
"$ROCKIT" report -q both | grep Kernels
mkdir named && cp fix/domain_stats.csv fix/kernels_7.0.csv named/
"$ROCKIT" convert -q named/kernels_7.0.csv -o named/stats.parquet
"$ROCKIT" report -q --format json named | grep -o '"stats":[0-9]*'
