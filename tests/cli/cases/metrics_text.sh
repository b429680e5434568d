# Counters of a kernel that moves 3 GB in 1 ms on an MI300X.
mkdir run
head -n 1 fix/counters.csv >run/counter_collection.csv
row() { # kernel dispatch counter value start end
	echo "$2,$2,\"Agent 4\",1,77,77,1048576,9,\"$1\",256,0,0,16,0,32,\"$3\",$4,$5,$6"
}
for d in 1 2; do
	start=$((d * 5000000)) end=$((d * 5000000 + 1000000))
	while read -r counter value; do
		row 'copy(double*, int)' $d "$counter" "$value" $start $end
	done <<-EOF
		GRBM_GUI_ACTIVE 16800000
		GRBM_COUNT 16800000
		SQ_WAVES 16384
		SQ_INSTS_VALU 65536
		TCC_HIT_sum 1000000
		TCC_MISS_sum 3000000
		TCC_EA0_RDREQ_sum 32000000
		TCC_EA0_RDREQ_32B_sum 0
		TCC_BUBBLE_sum 0
		TCC_EA0_WRREQ_sum 16000000
		TCC_EA0_WRREQ_64B_sum 16000000
	EOF
done >>run/counter_collection.csv
cat >run/agent_info.csv <<-EOF
	"Node_Id","Logical_Node_Id","Agent_Type","Simd_Count","Wave_Front_Size","Num_Xcc","Cu_Count","Array_Count","Simd_Arrays_Per_Engine","Simd_Per_Cu","Max_Engine_Clk_Fcompute","Max_Waves_Per_Cu","Name","Vendor_Name","Product_Name","Model_Name"
	4,4,"GPU",1216,64,8,304,32,1,4,2100,32,"gfx942","AMD","AMD Instinct MI300X","ip discovery"
EOF
COLUMNS=100 "$ROCKIT" metrics run
echo "== one group, in ASCII"
LC_ALL=C COLUMNS=80 "$ROCKIT" metrics -q --group l2 run
echo "== per dispatch"
"$ROCKIT" metrics -q --per dispatch --group l2 --format csv run
"$ROCKIT" metrics -q --per dispatch --group l2 --format json run | grep '"name": "copy'
"$ROCKIT" metrics -q --per dispatch --format csv -o - run >all.csv
"$ROCKIT" metrics -q --per dispatch --format csv -o file.csv run
cmp all.csv file.csv && echo same
echo "== own metrics"
cat >mine.json <<-EOF
	{"schema": 1, "metrics": [{"id": "waves_per_cu", "group": "mine", "unit": "waves",
	 "expr": "SQ_WAVES / cus", "help": "waves for each compute unit"}]}
EOF
"$ROCKIT" metrics -q --metrics mine.json --group mine --format csv run
