# A FIFO and standard input are read as files are.
mkfifo pipe || { echo "no mkfifo" >&2; exit 77; }
cat fix/kernels_7.0.csv >pipe &
"$ROCKIT" report --format csv pipe >fifo.csv; echo $?
"$ROCKIT" report --format csv fix/kernels_7.0.csv | cmp - fifo.csv
cat fix/kernels_7.0.csv >pipe &
"$ROCKIT" convert pipe -o fifo.parquet; echo $?
"$ROCKIT" convert fix/kernels_7.0.csv -o file.parquet
"$ROCKIT" report --format csv fifo.parquet >a.csv
"$ROCKIT" report --format csv file.parquet | cmp - a.csv
"$ROCKIT" report --format csv - <fix/counters.csv >stdin.csv; echo $?
"$ROCKIT" report --format csv fix/counters.csv | cmp - stdin.csv
cat fix/counters.csv | "$ROCKIT" convert - -o tables/; echo $?
ls tables
printf 'just text\n' >pipe &
"$ROCKIT" report pipe; echo $?
: >pipe &
"$ROCKIT" report pipe; echo $?
wait
