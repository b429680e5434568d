# Words that would change what runs, or what a terminal or a shell makes of a printed plan.
PATH=/usr/bin:/bin ROCKIT_SYSFS_ROOT=$PWD
export PATH ROCKIT_SYSFS_ROOT
plan() {
	"$ROCKIT" run --tool rocprofv3 --tool-version 7.0 --arch gfx942 -d /out --dry-run "$@"
	echo "[$?]"
}
plan --tool-args '--stats -- rm x' -- ./app
plan --tool-args '-d /else --output-file=x' -- ./app
plan --additional-context '{}' -- ./app
plan --additional-context '{"guest_os": "UBUNTU"}' --monitor power -- ./app
plan -c '' -- ./app
plan -d "$(printf '/out\033[31m\nrm x')" -- "$(printf "a\033[2J'\\\\")" "$(printf 'b\nc')"
