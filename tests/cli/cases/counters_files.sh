printf '# all of it\npmc : SQ_WAVES, SQ_INSTS_VALU # two\nrange: 3:9\n# pmc: GRBM_COUNT\npmc:TCC_HIT_sum\r\n' >v1.txt
printf '{"jobs": [{"pmc": ["SQ_WAVES", "GRBM_COUNT"]}, {"pmc": "TCC_HIT_sum TCC_MISS_sum"}]}\n' >jobs.json
printf 'jobs:\n  - pmc_groups: [["SQ_WAVES", "GRBM_COUNT"], ["GRBM_GUI_ACTIVE"]]\n    output_file: out\n' >jobs.yml
printf 'pmc: SQ_INSTS_SALU\n' >'two, words.txt'
for file in v1.txt jobs.json jobs.yml 'two, words.txt' v1.txt,jobs.json,@lds; do
	$ROCKIT counters --arch gfx90a --plan "$file" | grep -v '^#'
done
printf '<metric name=SQ_WAVES></metric>\n' >input.xml
printf 'pmc: SQ_WAVES\nSQ_INSTS\n' >line.txt
printf '# nothing\n' >empty.txt
printf 'pmc: SQ_WAVES SQ_WAVS\n' >slip.txt
printf 'pmc: SQ_WAV\033S\n' >letters.txt
printf '{"jobs": [{"pmc": [1]}]}' >number.json
for file in input.xml line.txt empty.txt slip.txt letters.txt number.json none.txt .; do
	$ROCKIT counters --arch gfx90a --plan "$file"
	echo "status $?"
done
