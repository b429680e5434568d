# Exit statuses: 0 within the gate, 3 beyond it, 4 when the data do not say.
. "$CASES/lib_diff_runs.sh"
steps 20 10000 500 | launches >a.csv
steps 20 11000 500 | launches >slower.csv
steps 9 10000 500 | launches >short.csv
head -c 3000 a.csv >cut.csv
steps 0 0 0 | launches >none.csv
gate() {
	"$ROCKIT" diff -q "$@" | tail -n 1
	"$ROCKIT" diff -q "$@" >/dev/null
	echo "status $?: $*"
}
gate a.csv a.csv --gate 0
gate a.csv slower.csv
gate a.csv slower.csv --gate 10
gate a.csv slower.csv --gate 7.6%
gate a.csv slower.csv --gate 5
gate slower.csv a.csv --gate 5
gate a.csv short.csv --gate 5
gate a.csv cut.csv --gate 5
gate none.csv a.csv --gate 5
gate none.csv none.csv --gate 5
mkdir broken
cp a.csv broken/1_kernel_trace.csv
echo '{"schema": 1, "state": "running", "exit_status": 0, "ledger": {}}' >broken/run.json
gate a.csv broken --gate 5
echo '{"schema": 1, "state": "done", "exit_status": 139, "ledger": {}}' >broken/run.json
gate a.csv broken --gate 5
echo '{"schema": 1, "state": "done", "exit_status": 0, "ledger": {}}' >broken/run.json
gate a.csv broken --gate 5
for i in 1 2 3; do
	steps 20 $((9000 + i * 700)) 500 | launches >a$i.csv
	steps 20 $((9300 + i * 800)) 500 | launches >b$i.csv
	steps 20 $((12000 + i * 100)) 500 | launches >c$i.csv
done
gate a1.csv a2.csv a3.csv -- b1.csv b2.csv b3.csv --gate 3
gate --gate 3 a1.csv a2.csv a3.csv -- c1.csv c2.csv c3.csv
