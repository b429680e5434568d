# Counters of two ranks on nodes with other GPUs of the same number: each kernel by its own chip.
row() { # kernel dispatch counter value start end
	echo "$2,$2,\"Agent 4\",1,77,77,1048576,9,\"$1\",256,0,0,16,0,32,\"$3\",$4,$5,$6"
}
agent() { # folder target units product
	cat >$1/agent_info.csv <<-END
		"Node_Id","Logical_Node_Id","Agent_Type","Simd_Count","Wave_Front_Size","Cu_Count","Simd_Per_Cu","Max_Engine_Clk_Fcompute","Max_Waves_Per_Cu","Name","Vendor_Name","Product_Name"
		4,4,"GPU",$((4 * $3)),64,$3,4,1700,32,"$2","AMD","$4"
	END
}
rank() { # rank node
	mkdir -p job/rank-0000$1
	printf '{"schema":1,"rockit":"1","state":"done","rank":%d,"size":2,"node":"%s"}\n' $1 $2 \
		>job/rank-0000$1/run.json
	{
		head -n 1 fix/counters.csv
		for d in 1 2; do
			row 'copy(double*)' $d GRBM_GUI_ACTIVE $((1000000 * ($1 + 1))) \
				$((d * 5000000)) $((d * 5000000 + 1000000))
			row 'copy(double*)' $d SQ_WAVES 16384 $((d * 5000000)) $((d * 5000000 + 1000000))
		done
	} >job/rank-0000$1/counter_collection.csv
}
measure() {
	"$ROCKIT" metrics --metrics mine.json --group mine --format csv job
	"$ROCKIT" metrics -q --metrics mine.json --group mine --per dispatch --format csv job
}
rank 0 n0 && agent job/rank-00000 gfx942 304 'AMD Instinct MI300X'
rank 1 n1 && agent job/rank-00001 gfx90a 110 'AMD Instinct MI250X'
cat >mine.json <<-END
	{"schema": 1, "metrics": [{"id": "waves_per_cu", "group": "mine", "unit": "waves",
	 "expr": "SQ_WAVES / cus", "help": "waves for each compute unit"}]}
END
measure
echo '# a rank has nothing'
rm job/rank-00001/*.csv
measure
echo '# a rank is missing'
rm -r job/rank-00001
measure
