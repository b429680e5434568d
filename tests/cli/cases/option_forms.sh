# The same report, written in different ways.
"$ROCKIT" report --top 1 --format csv fix/kernels_7.0.csv >one
"$ROCKIT" report fix/kernels_7.0.csv --top=1 --format=csv >two
"$ROCKIT" report -qvn1 -fcsv -- fix/kernels_7.0.csv >three 2>/dev/null
"$ROCKIT" report -f json -f csv fix/kernels_7.0.csv >four
cmp one two && cmp one three && cmp one four && cat one
cp fix/kernels_7.0.csv ./-x.csv
"$ROCKIT" report -f csv -- -x.csv >five && cmp one five
