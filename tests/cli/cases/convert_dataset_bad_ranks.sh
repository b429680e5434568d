# Ranks that are missing, twice there, empty, cut off or damaged: named, and the rest is written.
mkdir -p a/rank-0 a/rank-2 a/rank-3 a/rank-7 a/rank-8 b/rank-2 tables
cp fix/run/4242_*_trace.csv a/rank-0
cp fix/run/4242_*_trace.csv a/rank-2
cp fix/run/4242_*_trace.csv b/rank-2
: >a/rank-3/1_kernel_trace.csv
"$ROCKIT" convert fix/run -o tables/ -q
head -c 1000 tables/rocprof_kernels.parquet >a/rank-7/rocprof_kernels.parquet
cp tables/*.parquet a/rank-8
printf '\377\377\377\377\377\377\377\377\377\377' |
	dd of=a/rank-8/rocprof_kernels.parquet bs=1 seek=4 conv=notrunc 2>/dev/null
"$ROCKIT" convert a b -o set --dataset --table kernels; echo $?
(cd set && find kernels -type f | LC_ALL=C sort)
grep -v plan set/_rockit/part-1-of-1.json
echo '# one that cannot be written'
"$ROCKIT" convert a/rank-0 -o /proc/rockit-set --dataset; echo $?
