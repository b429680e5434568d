# Calls that libraries logged: with their arguments, the most frequent first.
mkdir run
printf '%s\n' library,function,config,calls,total_ns \
	'rocblas,gemm_ex,"-m 64 -n 64",3,' 'rocblas,gemm_ex,"-m 4096 -n 4096",1200,' \
	'rccl,AllReduce,count=4 nranks=2,7,550000' 'miopen,,conv -n 1,2,' >run/library_trace.csv
"$ROCKIT" report run
"$ROCKIT" report run --format json | sed -n '/libraries/,/]/p'
# numbers that are wrong are not counted
printf '%s\n' library,function,config,calls,total_ns 'rocblas,scal,,-4,' 'rocblas,scal,,x,' >run/library_trace.csv
"$ROCKIT" report run
