# Counters of a second pass are joined by number where kernel and grid agree, and left out where not.
mkdir -p run/pmc_1/host run/pmc_2/host
head='"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"'
row() { echo "$1,$1,\"Agent 1\",2,$2,$2,$3,5,\"$4\",64,0,0,12,4,32,\"$5\",$6,$1000,$1500"; }
{
	echo "$head"
	row 1 10 256 alpha SQ_WAVES 4
	row 2 10 512 beta SQ_WAVES 8
	row 3 10 512 beta SQ_WAVES 9
} >run/pmc_1/host/10_counter_collection.csv
{
	echo "$head"
	row 1 11 256 alpha GRBM_COUNT 40
	row 2 11 512 gamma GRBM_COUNT 80
	row 3 11 1024 beta GRBM_COUNT 90
} >run/pmc_2/host/11_counter_collection.csv
"$ROCKIT" convert run -o kernels.csv
cut -d, -f1,2,3,15,40- kernels.csv
# numbers that begin elsewhere but are as many are taken by order
{
	echo "$head"
	row 5 11 256 alpha GRBM_COUNT 40
	row 6 11 512 beta GRBM_COUNT 80
	row 7 11 512 beta GRBM_COUNT 90
} >run/pmc_2/host/11_counter_collection.csv
"$ROCKIT" convert run -o kernels.csv
cut -d, -f1,2,3,15,40- kernels.csv
# a counter named like a column of the table keeps its values, under another name
sed 's/GRBM_COUNT/regs/' run/pmc_2/host/11_counter_collection.csv >run/pmc_2/host/x && mv run/pmc_2/host/x run/pmc_2/host/11_counter_collection.csv
"$ROCKIT" convert run -o kernels.csv
cut -d, -f1,10,40- kernels.csv
# threads take turns in another order, then do the work of each other
two() { echo "$1,$1,\"Agent 1\",2,$2,$3,$4,5,\"$5\",64,0,0,12,4,32,\"$6\",$7,$1000,$1500"; }
{
	echo "$head"
	two 1 10 10 256 alpha SQ_WAVES 1
	two 2 10 11 256 alpha SQ_WAVES 2
	two 3 10 11 512 beta SQ_WAVES 3
} >run/pmc_1/host/10_counter_collection.csv
{
	echo "$head"
	two 1 11 25 256 alpha GRBM_COUNT 20
	two 2 11 25 512 beta GRBM_COUNT 30
	two 3 11 21 256 alpha GRBM_COUNT 10
} >run/pmc_2/host/11_counter_collection.csv
"$ROCKIT" convert run -o kernels.csv
cut -d, -f1,2,3,15,40- kernels.csv
sed -i 's/,25,512/,21,512/' run/pmc_2/host/11_counter_collection.csv
"$ROCKIT" convert run -o kernels.csv
cut -d, -f1,2,3,15,40- kernels.csv
# a folder of tables does not show this, but its run.json does
mkdir kept
"$ROCKIT" convert -q run -o kept/rocprof_kernels.parquet
echo '{"rockit":"1.0","state":"done","ledger":{"repaired":{"rows":{"joined_by_order":3,"pass-mismatch":2}}}}' >kept/run.json
"$ROCKIT" report --format json kept 2>/dev/null | grep -o '"kind":"[a-z_-]*","file":null,"line":null,"count":[0-9]*'
