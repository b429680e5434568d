. "$CASES/lib_doctor_machine.sh"
machine
driver 6.12.12
for i in 1 2 3 4 5 6 7 8; do
	gpu $i 90402 0x74a1 1216 192
done
rocm 7.0.2 rocprofv3 rocprofv3-avail rocprof-compute rocprof-sys-run rocprof-sys-sample amd-smi
doctor
echo
doctor --format json
