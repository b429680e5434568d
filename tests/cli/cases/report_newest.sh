# Without input: the newest run under rockit_output/.
"$ROCKIT" report; echo $?
mkdir rockit_output
"$ROCKIT" report; echo $?
for name in 20260101-000000-9 20260102-000000-1 zzz; do
	mkdir rockit_output/$name
	cp fix/kernels_6.2.csv rockit_output/$name/1_kernel_trace.csv
done
cp fix/kernels_6.2.csv rockit_output/20270101-000000-1
"$ROCKIT" report
"$ROCKIT" report -q --format csv
