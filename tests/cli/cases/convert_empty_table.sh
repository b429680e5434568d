# A table without rows is still written, and what does have rows is named.
"$ROCKIT" convert fix/kernel_stats.csv -o kernels.csv
wc -l <kernels.csv
cat >power.csv <<end
timestamp_ns,time,Power(Watt) GPU0,Power(Watt) GPU1
13386742234691895,2026-11-15T03:51:06Z,151.5,N/A
end
"$ROCKIT" convert power.csv -f jsonl -o -
"$ROCKIT" convert - -f jsonl -o - <power.csv
"$ROCKIT" convert fix/kernels_6.2.csv --table memcpy -o copies/ && ls copies
# Files that could hold rows and have none are not named; alone they are nothing to warn of.
head -n 1 fix/kernels_6.2.csv >header.csv
"$ROCKIT" convert header.csv -f jsonl -o -
"$ROCKIT" convert header.csv fix/kernel_stats.csv --table memcpy -f jsonl -o -
"$ROCKIT" convert -q power.csv -f jsonl -o -
