say() {
	"$ROCKIT" metrics "$@"
	echo "exit $?"
}
say
say --per dispatch fix/counters.csv
say --per wave fix/counters.csv
say --normal per_minute fix/counters.csv
say --kernel-regex '(' fix/counters.csv
say --arch gfx1 fix/counters.csv
say --metrics nowhere.json fix/counters.csv
say --sysinfo nowhere.csv fix/counters.csv
say nowhere.csv
say -q --group l3 --format csv --arch gfx942 fix/counters.csv
say --group l3 --format csv --arch gfx942 fix/counters.csv
echo '{"schema": 1, "metrics": [{"id": "bad", "expr": "1 + (2"}]}' >bad.json
say --metrics bad.json fix/counters.csv
say --per dispatch --format csv -o nowhere/out.csv --arch gfx942 fix/counters.csv
say --kernel-regex nothing --format csv --arch gfx942 fix/counters.csv
