# What cannot be read or written: one line, exit 1, and nothing left behind.
[ -e /dev/full ] || { echo "no /dev/full" >&2; exit 77; }
"$ROCKIT" convert fix/kernels_7.0.csv -f parquet -o /dev/full; echo $?
"$ROCKIT" convert fix/kernels_7.0.csv -f jsonl -o /dev/full; echo $?
mkdir -p only/text
echo text >only/text/a.txt
"$ROCKIT" convert only -o out.parquet; echo $?
"$ROCKIT" report only; echo $?
mkdir empty
"$ROCKIT" report empty -o r.txt; echo $?
"$ROCKIT" report fix/kernels_7.0.csv/; echo $?
: >target
"$ROCKIT" convert fix/kernels_7.0.csv -f csv -o target/out.csv; echo $?
ls
