# What can be wrong with the folders of a job's ranks: named, and the rest stands.
rank() { # folder rank node state more
	mkdir -p "$1"
	cp fix/run/4242_kernel_trace.csv "$1"
	printf '{"schema":1,"rockit":"%s","state":"%s","exit_status":0,"rank":%d,"size":4,"job":"7",\n' \
		"${version:-1.0}" "$4" "$2" >"$1/run.json"
	printf '"node":"%s","tool":{"name":"rocprofv3","version":"%s"}%s}\n' "$3" "${tool:-7.0}" "$5" \
		>>"$1/run.json"
}
job() { # a job of four that is whole
	rm -rf job && for r in 0 1 2 3; do rank job/rank-0000$r $r n$((r / 2)) done; done
}
rows() {
	"$ROCKIT" report --format json "$@" >report.json 2>/dev/null
	sed -n 's/.*"kernel_rows":\([0-9]*\).*/\1 kernels/p' report.json
	sed -n '/"problems"/,$p' report.json | grep -o '"kind": *"[a-z-]*"'
}
say() { # what is wrong, as a conversion tells it, and what a report counts
	echo "# $1"
	shift
	"$ROCKIT" convert -o - -f csv "${@:-job}" 2>&1 >/dev/null
	rows "${@:-job}"
}
job
say whole
rm -r job/rank-00001 job/rank-00002
say missing
job && rm job/rank-00001/*.csv
say 'a rank without tables'
job && : >job/rank-00001/4242_kernel_trace.csv
say empty
job && cp -r job/rank-00002 job/rank-2
say 'a rank twice'
job && mkdir old && for r in 0 1; do rank old/rank-0000$r $r n0 running; done
say 'another job beside it' job old
job && rank job/rank-00003 3 n1 done ',"job":"6"'
say 'a rank of an earlier job'
job && head -c 120 job/rank-00001/run.json >cut && mv cut job/rank-00001/run.json
say 'run.json cut off'
job && rank job/rank-00002 2 n1 running ',"scratch":"/tmp/rockit-7"'
say 'a node lost'
job && for r in 0 1 2 3; do rank job/rank-0000$r $r n$((r / 2)) stopped ',"exit_status":143'; done
say cancelled
job && tool=6.4 rank job/rank-00001 1 n0 done && version=0.9 rank job/rank-00002 2 n1 done
say versions
clock() {
	printf ',"clocks":{"start":{"boottime_ns":%s,"realtime_ns":1790000000000000000,"error_ns":9}}' $1
}
job && rank job/rank-00000 0 n0 done "$(clock 5000000000)" &&
	rank job/rank-00001 1 n0 done "$(clock 9000000000)"
say 'two machines of one name'
job && rm -r job/rank-00003
say 'ranks that are asked for by name' job/rank-00000 job/rank-00001
say 'one rank of four' job/rank-00001
rm -r job/rank-00001 job/rank-00002
say 'one rank of four that is there'
