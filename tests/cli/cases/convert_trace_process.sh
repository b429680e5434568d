# A process that has nothing but kernels keeps them in a trace of ours.
mkdir run
cp fix/run/4242_hip_api_trace.csv fix/run/4242_kernel_trace.csv run/
sed 's/,4242,/,4243,/' fix/run/4242_kernel_trace.csv >run/4243_kernel_trace.csv
"$ROCKIT" convert -q run -o run.json
for from in run run.json; do
	"$ROCKIT" report --by process --format csv "$from"
done
