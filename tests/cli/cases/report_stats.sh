# Statistics files: what they describe, and a standard deviation that cannot be right.
"$ROCKIT" report fix/kernel_stats.csv
"$ROCKIT" report -q --format json fix/kernel_stats.csv | grep -E 'kernel_rows|stats_of|gemm|fill'
"$ROCKIT" report --format json fix/domain_stats.csv | grep -E 'kernel_rows|stats_of|HIP_API'
"$ROCKIT" report --format csv fix/domain_stats.csv
