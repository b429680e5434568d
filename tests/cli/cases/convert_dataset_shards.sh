# Shards together are what one run writes, each with a note of its own.
for rank in 0 1 2 3 4; do
	mkdir -p job/rank-$rank
	cp fix/run/4242_*_trace.csv job/rank-$rank
done
"$ROCKIT" convert job -o whole --dataset -q
for i in 3 1 2; do
	"$ROCKIT" convert job -o parts --dataset --shard $i/3 -q || echo failed
done
diff -r -x _rockit whole parts && echo same
grep -h '"ranks"' parts/_rockit/part-1-of-3.json parts/_rockit/part-2-of-3.json \
	parts/_rockit/part-3-of-3.json
echo '# more shards than ranks; another number of shards'
"$ROCKIT" convert job -o many --dataset --shard 9/9 -q; echo $?; ls many
"$ROCKIT" convert job -o parts --dataset --shard 1/2 -q; echo $?
echo '# misuse'
for shard in 0/4 5/4 4 x/4 1/0 /4 4/ 1/99999 -1/2 1/2/3 ''; do
	"$ROCKIT" convert job -o no --dataset --shard "$shard"; echo $?
done
"$ROCKIT" convert job -o no --shard 1/2; echo $?
"$ROCKIT" convert job -o - --dataset; echo $?
"$ROCKIT" convert job -o no -f csv --dataset; echo $?
ls
