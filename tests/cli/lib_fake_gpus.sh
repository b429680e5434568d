# fake_gpus.sh - two AMD GPUs under ./gpus: one with a table of measurements, one with hwmon only.
# Sourced by cases; sets ROCKIT_SYSFS_ROOT.

# card N PCI: the files that both have
card() {
	dev=gpus/sys/class/drm/card$1/device
	mkdir -p "$dev/hwmon/hwmon3"
	printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=%s\n' "$2" >"$dev/uevent"
	echo 0x1002 >"$dev/vendor"
	echo 0x740f >"$dev/device"
	echo 0x038000 >"$dev/class"
	echo 68702699520 >"$dev/mem_info_vram_total"
}

card 0 0000:03:00.0
echo 34351349760 >"$dev/mem_info_vram_used"
cp "$CASES/../fuzz/corpus/gpu_metrics/v1_3_120" "$dev/gpu_metrics"
card 1 0000:83:00.0
echo 4096 >"$dev/mem_info_vram_used"
echo amdgpu >"$dev/hwmon/hwmon3/name"
echo 215500000 >"$dev/hwmon/hwmon3/power1_input"
echo edge >"$dev/hwmon/hwmon3/temp1_label"
echo 52000 >"$dev/hwmon/hwmon3/temp1_input"
echo 33 >"$dev/gpu_busy_percent"
printf '0: 500Mhz \n1: 1700Mhz *\n' >"$dev/pp_dpm_sclk"
ROCKIT_SYSFS_ROOT=$PWD/gpus
export ROCKIT_SYSFS_ROOT

# What differs from run to run: counts, cost.
settle() {
	sed -E 's/[0-9]+ samples/N samples/; s/[0-9]+ missed/N missed/; s/[0-9.]+ % of/N % of/
		s/at most [0-9]+ ns/at most N ns/; s/("(samples|missed|cpu_percent|clock_error_ns)": )[0-9.e-]+/\1N/'
}
