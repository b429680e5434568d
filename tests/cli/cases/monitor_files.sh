# The sampler alone, and what convert makes of its files.
. "$CASES/lib_fake_gpus.sh"
"$ROCKIT" monitor --interval 20 --duration 0.1 -d out/here -v 2>&1 | settle
for f in out/here/*; do
	echo "$f"
	sed -E 's/^[0-9]{6,},[0-9]{4}(-[0-9]{2}){2}T([0-9]{2}:){2}[0-9]{2}\.[0-9]{6}Z,/TIMES,/' "$f" |
		uniq
done
"$ROCKIT" convert out/here --table samples -f csv -o - | sed 's/^[0-9]*,/TIME,/' | sort -u
# All times are of the machine's clock since boot, and in order.
"$ROCKIT" convert out/here --table samples -f csv -o - |
	awk -F, -v up="$(cut -d. -f1 /proc/uptime)" 'NR > 1 && ($1 < last || $1 / 1e9 > up + 2 ||
		$1 / 1e9 < up - 60) { print "odd time " $1 } NR > 1 { last = $1 }'
# They are kept, unless told otherwise.
"$ROCKIT" monitor --duration 0.01 -d out/here; echo $?
"$ROCKIT" monitor --duration 0.01 -d out/here --force -q; echo $?
"$ROCKIT" monitor --duration 0.01 -d out/power --metrics power -q; ls out/power
"$ROCKIT" monitor --duration 0.01 -q; ls rockit_output | sed -E 's/^[0-9]{8}-[0-9]{6}-[0-9]+$/run/'
