# A batch script from options, from a context, for each launcher.
r() { "$ROCKIT" slurm script --rockit rockit "$@" | sed "s|$PWD|HERE|g"; }
r -p multi_gpu --nodes 2 --gpus-per-node 8 --time 1:00:00 --partition gpu -d prof -- ./app "it's" '' '$x' -v
r -N 2 --ntasks-per-node 4 --launcher mpirun --account me --qos low --constraint mi300x --exclusive \
	--job-name 'a "b" c' -o out.txt --sbatch '--mem=0 "--comment=x y"' --ranks 0,4-7 --force -d /p -- app
r --additional-context '{"slurm":{"nodes":2,"gpus_per_node":4,"partition":"amd-rccl"},
	"distributed":{"launcher":"torchrun","nnodes":2,"nproc_per_node":4}}' -d /p -- python train.py
r --launcher torchrun --nodes 2 --gpus-per-node 4 -d /p -- train.py --lr 1 | tail -n 5
