# A data set: folders by node and rank, notes of what is there, and nothing but that replaced.
mkdir -p job/rank-00000 job/rank-00003
cp fix/run/4242_*_trace.csv job/rank-00000
cp fix/run/4242_*_trace.csv job/rank-00003
"$ROCKIT" convert job -o set/ --dataset -v 2>&1 | grep -v ' used '
(cd set && find . -type f | LC_ALL=C sort)
sed 's/"plan": "[0-9a-f]*"/"plan"/' set/_rockit/part-1-of-1.json
"$ROCKIT" convert set -f jsonl -o - -q | grep -o '"rank":[0-9]*' | sort | uniq -c | sed 's/^ *//'
echo '# the same again; one table of it; other input'
"$ROCKIT" convert job -o set/ --dataset -q; echo $?
"$ROCKIT" convert job -o set/ --dataset --table memcpy -q; echo $?
"$ROCKIT" convert job/rank-00000 -o set/ --dataset -q; echo $?
"$ROCKIT" convert job -o one/ --dataset --table memcpy -q; ls one
echo '# folders of others'
mkdir other && touch other/file
"$ROCKIT" convert job -o other --dataset -q; echo $?
"$ROCKIT" convert job -o job/set --dataset -q; echo $?
"$ROCKIT" convert job -o other/file --dataset -q; echo $?
ls other job
echo '# ranks that are columns, and rows without'
"$ROCKIT" convert job -o job.parquet -q
"$ROCKIT" convert job.parquet fix/kernels_7.0.csv -o columns --dataset
(cd columns && find kernels -type f | LC_ALL=C sort)
cat job.parquet | "$ROCKIT" convert - -o pipe --dataset -q; echo $?
