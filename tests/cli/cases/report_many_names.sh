# More distinct names than the table keeps: all rows are counted, and a warning says so.
{
	echo '"Kind","Agent_Id","Kernel_Name","Start_Timestamp","End_Timestamp"'
	awk 'BEGIN { pad = sprintf("%200s", ""); gsub(/ /, "x", pad)
		for (i = 1; i <= 40000; i++)
			printf "\"KERNEL_DISPATCH\",\"Agent 1\",\"k%d%s\",%d,%d\n", i, pad, i * 10, i * 10 + 1 }'
} >names.csv
"$ROCKIT" report names.csv --format json | grep -o '"kernel_rows":[0-9]*\|"sum_duration_ns":[0-9]*\|"kind":"name-table-full"'
