# A rank that cannot write its first run.json leaves no claim behind.
ROCKIT_SYSFS_ROOT=$PWD OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0
export ROCKIT_SYSFS_ROOT OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK
: >librockit-opencl.so
export ROCKIT_COLLECTORS=$PWD
(
	ulimit -f 1
	exec "$ROCKIT" run -q -d d --tool opencl -- true
) 2>&1 | sed "s#$PWD/##"
ls -a d/rank-00000
