# Misuse gives one line; nothing is submitted.
try() {
	"$ROCKIT" slurm "$@"
	echo "status $?"
}
try
try scrip
try --help
try script
try script -d x
try script -- app
try script -d x --launcher ssh -- app
try script -d x --time '1
2' -- app
try script -d x --sbatch "'" -- app
try script -d x --sbatch main -- app
try script -d x --ranks 3-1 -- app
try script -d x -p nonesuch -- app
try script -d x --nodes 2000000 -- app
try collect
try collect a b
try collect nowhere
mkdir job
try collect job
mkdir job/rank-00001
PATH=/nonexistent try submit -d new -- app
try submit -d job -- app 2>&1 | sed "s|'/.*/job'|'HERE/job'|"
