# A page that was made elsewhere: the machine that the run was recorded on is hidden as well.
mkdir -p run
cp fix/run/4242_kernel_trace.csv run
echo '{"schema":1,"rockit":"1.0.0","state":"done","exit_status":0,"host":"gpu17.cluster.example","node":"gpu17",
"command":["./app","--on","gpu17"],"ledger":{"dropped":{}}}' >run/run.json
"$ROCKIT" report run --html page.html -q
grep -o 'gpu17[a-z.]*' page.html
echo hidden:
"$ROCKIT" report run --html hidden.html --redact -q
grep -o '[a-z0-9]*\.cluster\|gpu17\|"host":"[^"]*"\|"command":[^]]*.' hidden.html
