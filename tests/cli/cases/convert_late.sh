# a row that comes too late for the window: what went down a pipe cannot be taken back
awk 'BEGIN {
	print "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\""
	for (i = 2; i < 150000; i++)
		print "\"KERNEL_DISPATCH\",\"Agent 1\",1,1,\"k\"," i "," i * 1000 "," i * 1000 + 10
	print "\"KERNEL_DISPATCH\",\"Agent 1\",1,1,\"late\",1,1000,1010"
}' >late_kernel_trace.csv
for format in csv jsonl; do
	"$ROCKIT" convert -q late_kernel_trace.csv -f $format -o file.$format
	"$ROCKIT" convert -q late_kernel_trace.csv -f $format -o - | cmp - file.$format && wc -l <file.$format
	"$ROCKIT" convert -q late_kernel_trace.csv -f $format -o /dev/stdout | cmp - file.$format
done
head -2 file.csv | cut -d, -f1,2
"$ROCKIT" convert -q late_kernel_trace.csv -o file.pftrace
"$ROCKIT" convert -q late_kernel_trace.csv -f perfetto -o - | cmp - file.pftrace
