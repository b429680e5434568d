# The variables of a collector, quoted for each place that reads them.
mkdir -p here "a b" c:d
for l in opencl cupti rocm; do
	: > here/librockit-$l.so
	: > "a b/librockit-$l.so"
	: > c:d/librockit-$l.so
done
show() {
	"$ROCKIT" env "$@" 2>&1 | sed "s,$PWD,WORK,g"
}
ROCKIT_COLLECTORS=$PWD/here
export ROCKIT_COLLECTORS
show --tool opencl -d /
show --tool cupti -d / --format systemd
show --tool cupti -d / --format docker
show --tool opencl -d "/a b'c\"d%e\\f,g=h" --format sh
show --tool opencl -d "/a b'c\"d%e\\f,g=h" --format systemd
show --tool opencl -d "/a b'c\"d%e\\f,g=h" --format docker
show --tool opencl --kernels-from-start 0 -d /
show --tool rocm -d /
show --tool rocm --kernels-from-start 0 -d / --format systemd
# what the shell gets is what was meant
eval "$("$ROCKIT" env -q --tool opencl -d "/x'y")"
echo "$ROCKIT_COLLECT" "$OPENCL_LAYERS" | sed "s,$PWD,WORK,g"
ROCKIT_COLLECTORS="$PWD/a b"
show --tool opencl -d /
show --tool rocm -d /
ROCKIT_COLLECTORS="$PWD/c:d"
show --tool opencl -d /
ls
