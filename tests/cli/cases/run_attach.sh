# A process is looked at before it is touched: the thread of the SDK must be there.
mkdir bin
printf '#!/bin/sh\necho "rocprofv3 $*" | sed "s|$PWD|PWD|"\n' >bin/rocprofv3
chmod +x bin/rocprofv3
PATH=$PWD/bin:/usr/bin:/bin ROCKIT_SYSFS_ROOT=$PWD/root
export PATH ROCKIT_SYSFS_ROOT
# process PID NAME THREAD...
process() {
	pid=$1 dir=root/proc/$1
	mkdir -p "$dir/task"
	echo "$2" >"$dir/comm"
	printf 'Name:\t%s\nUid:\t%s\t0\t0\t0\n' "$2" "$(id -u)" >"$dir/status"
	shift
	for thread; do
		mkdir -p "$dir/task/$pid"
		echo "$thread" >"$dir/task/$pid/comm"
		pid=$((pid + 1))
	done
}
may() {
	mkdir -p root/proc/self root/proc/sys/kernel/yama
	printf 'Name:\trockit\nCapEff:\t%s\n' "$1" >root/proc/self/status
	echo "$2" >root/proc/sys/kernel/yama/ptrace_scope
}
attach() {
	echo "== $*"
	"$ROCKIT" run --tool rocprofv3 --tool-version 10.1 --arch gfx942 -d out -t kernel "$@" 2>&1 </dev/null |
		sed "s|$PWD|PWD|g"
}
attach --attach 100 --duration 1
process 100 python python worker
attach --attach 100 --duration 1
process 200 'odd
name' rocp-bg-attachment rocp-bg
attach --attach 200 --duration 1
process 300 vllm vllm rocp-bg-attach
attach --attach 300
may 0000000000000000 1
attach --attach 300 --duration 1
may 0000000000000000 0
sed -i "s/Uid:.*/Uid:\t98765\t0/" root/proc/300/status
attach --attach 300 --duration 1
may 000001ffffffffff 3
attach --attach 300 --duration 1
test -e out && echo "the directory was made"
may 000001ffffffffff 1
attach --attach 300 --duration 1
sed -n '/"command"/,/"exit_status"/p' out/run.json
# A SIGTERM for us ends the profiler by SIGINT, at which it detaches.
cat >bin/rocprofv3 <<'END'
#!/bin/sh
trap 'echo detached; kill $!; exit 0' INT
trap 'echo "died inside the process"; kill $!; exit 1' TERM HUP
echo ready >ready
sleep 60 &
wait
END
rm -rf out
env --default-signal=INT "$ROCKIT" run --tool rocprofv3 --tool-version 10.1 --arch gfx942 -d out \
	-t kernel --attach 300 --duration 60 >log 2>&1 </dev/null &
while ! test -e ready; do sleep 0.1; done
kill -TERM $!
wait $!
sed "s|$PWD|PWD|g" log
