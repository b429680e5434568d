# A packed file that was cut: the rows before, and a warning.
command -v gzip >/dev/null || { echo "no gzip" >&2; exit 77; }
awk 'NR == 1 { print } NR == 2 { for (i = 0; i < 20000; i++) print }' fix/kernels_7.0.csv |
	gzip -c >whole.csv.gz
size=$(wc -c <whole.csv.gz)
head -c $((size / 2)) whole.csv.gz >cut.csv.gz
"$ROCKIT" report --format json cut.csv.gz >out 2>err; echo $?
rows=$(sed -n 's/.*"kernel_rows":\([0-9]*\),.*/\1/p' out)
[ "$rows" -gt 5000 ] && [ "$rows" -lt 20000 ] && echo good rows
grep -c damaged-file out
grep -c 'rows before that are kept' err
"$ROCKIT" convert cut.csv.gz -o out.parquet 2>/dev/null; echo $?
head -c 5 whole.csv.gz >header.csv.gz
"$ROCKIT" report header.csv.gz; echo $?
printf '\037\213\010\0rubbish that is not packed at all' >rubbish.gz
"$ROCKIT" report rubbish.gz 2>err; echo $?
grep -c "damaged gzip data" err
