# --redact hides host, user and paths in every kind of output, not only in the page.
export USER=alice HOME=$PWD/home/alice
mkdir -p home/alice/run
cp fix/run/4242_kernel_trace.csv home/alice/run
echo '{"schema":1,"rockit":"1.0.0","state":"done","exit_status":0,"host":"gpu17.cluster.example","node":"gpu17",
"command":["./app"],"ledger":{"dropped":{}}}' >home/alice/run/run.json
for format in text json csv; do
	echo "== $format"
	"$ROCKIT" report "$HOME/run" --format $format -q >plain
	"$ROCKIT" report "$HOME/run" --format $format --redact -q >hidden
	grep -c 'alice\|gpu17' plain
	grep -c 'alice\|gpu17\|home/' hidden
done
"$ROCKIT" report "$HOME/run" --redact -q | head -n 1
"$ROCKIT" report "$HOME/run" --redact -q --format json | grep '"path"'
"$ROCKIT" report "$HOME/run" --redact -q --format csv | cmp - plain && echo the same CSV
# the same with several machines, instructions and a narrow terminal
for rank in 0 1; do
	mkdir -p home/alice/job/rank-0000$rank
	cp fix/run/4242_kernel_trace.csv home/alice/job/rank-0000$rank
	echo '{"schema":1,"rockit":"1.0.0","state":"done","exit_status":0,"host":"gpu1'$rank'.cluster","node":"gpu1'$rank'","rank":'$rank',
"size":2,"command":["./app"],"ledger":{"dropped":{}}}' >home/alice/job/rank-0000$rank/run.json
done
for options in '' --ranks '--ranks --format json' '--ranks --format csv'; do
	COLUMNS=60 "$ROCKIT" report "$HOME/job" $options -q >plain
	COLUMNS=60 "$ROCKIT" report "$HOME/job" $options --redact -q >hidden
	echo "$options: $(grep -c 'gpu1[01]' plain) $(grep -c 'alice\|gpu1[01]' hidden) $(grep -c '\[node [12]\]' hidden)"
done
"$ROCKIT" report "$HOME/run" --hotspots --redact -q
