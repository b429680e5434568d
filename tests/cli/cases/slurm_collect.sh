# Ranks that are there, failed, did not finish, are missing.
rank() {
	mkdir -p job/rank-0000$1
	echo "{\"rank\":$1,\"size\":6,\"node\":\"$2\",\"job\":\"12\",\"exit_status\":$4,\"state\":\"$3\",\
\"ledger\":{\"delivered\":{\"tables\":{\"kernels\":10}}}}" >job/rank-0000$1/run.json
}
rank 0 n1 done 0
rank 1 n1 done 3
rank 2 n2 running 0
"$ROCKIT" slurm collect job
echo "status $?"
"$ROCKIT" slurm collect --format json job
echo "status $?"
for i in 1 2 3 4 5; do rank $i n2 done 0; done
"$ROCKIT" slurm collect job
echo "status $?"
