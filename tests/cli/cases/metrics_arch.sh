# Counters without any description of the chip: the target says enough, a product says more.
mkdir run
head -n 1 fix/counters.csv >run/counter_collection.csv
while read -r counter value; do
	echo "1,1,\"Agent 4\",1,77,77,1048576,9,copy,256,0,0,16,0,32,\"$counter\",$value,5000000,6000000"
done >>run/counter_collection.csv <<-EOF
	GRBM_GUI_ACTIVE 16800000
	TCC_EA0_RDREQ_sum 32000000
	TCC_EA0_RDREQ_32B_sum 0
	TCC_BUBBLE_sum 0
	TCC_EA0_WRREQ_sum 32000000
	TCC_EA0_WRREQ_64B_sum 32000000
EOF
say() {
	COLUMNS=120 "$ROCKIT" metrics --no-roofline --group hbm "$@" run | head -5
}
say
say --arch gfx942
say --arch MI300X
say --arch 'AMD Instinct MI325X'
echo "== impossible numbers"
echo 'workload_name,ip_blocks,gpu_model,gpu_arch,cu_per_gpu,max_sclk,max_mclk,total_l2_chan,num_xcd,num_hbm_channels,hbm_bw
w,SQ,MI300X,gfx942,304,2100,1500,16,1,16,768' >sysinfo.csv
say --sysinfo sysinfo.csv
