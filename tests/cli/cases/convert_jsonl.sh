"$ROCKIT" convert fix/kernels_6.2.csv -o out.jsonl && head -n 1 out.jsonl
wc -l <out.jsonl | tr -d ' '
