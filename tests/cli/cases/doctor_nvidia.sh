. "$CASES/lib_doctor_machine.sh"
machine
for i in 1 2; do
	at=root/sys/bus/pci/devices/0000:0$i:00.0
	mkdir -p $at
	echo 0x030200 >$at/class
	echo 0x10de >$at/vendor
	echo 0x2330 >$at/device
done
mkdir -p root/proc/driver/nvidia
echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024' \
	>root/proc/driver/nvidia/version
echo 'RmProfilingAdminOnly: 1' >root/proc/driver/nvidia/params
doctor
