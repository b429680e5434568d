# lib_doctor_machine.sh - synthetic machines for `rockit doctor`; sourced by the cases.
#
# The tree is ./root. Its user is alice, whom no file belongs to; her devices belong to the group
# of whoever runs the tests, which is called render there.

unset ROCM_PATH ROCM_HOME HIP_PATH VIRTUAL_ENV CONDA_PREFIX LD_PRELOAD HSA_TOOLS_LIB
unset KUBERNETES_SERVICE_HOST APPTAINER_CONTAINER SINGULARITY_CONTAINER container
unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL

ROCKIT_COLLECTORS=$PWD/none # the same, whether OpenCL was built or not
export ROCKIT_COLLECTORS

user() { # GROUPS-OF-THE-SESSION MEMBERS-OF-RENDER
	mkdir -p root/proc/self root/proc/sys/kernel root/etc bin
	printf 'Name:\trockit\nUid:\t4242\t4242\t4242\t4242\nGid:\t4242\t4242\t4242\t4242\nGroups:\t%s\n' \
		"$1" >root/proc/self/status
	echo 'alice:x:4242:4242::/:/bin/sh' >root/etc/passwd
	printf 'alice:x:4242:\nrender:x:%s:%s\n' "$(id -g)" "$2" >root/etc/group
}

machine() {
	user "$(id -g)" alice
	echo 6.8.0-51-generic >root/proc/sys/kernel/osrelease
	echo 'ID=ubuntu' >root/etc/os-release
	printf '#!/bin/sh\n' >bin/python3
	chmod +x bin/python3
}

driver() { # VERSION
	mkdir -p root/sys/module/amdgpu root/dev/dri
	echo "$1" >root/sys/module/amdgpu/version
	: >root/dev/kfd
	chmod 660 root/dev/kfd
}

gpu() { # N TARGET PCI-DEVICE SIMDS GiB
	node=root/sys/class/kfd/kfd/topology/nodes/$1 card=root/sys/class/drm/card$1/device
	mkdir -p "$node" "$card"
	echo "47$1" >"$node/gpu_id"
	printf '%s\n' "simd_count $4" 'simd_per_cu 4' "gfx_target_version $2" 'vendor_id 4098' \
		"location_id $(($1 * 256))" "drm_render_minor $((127 + $1))" >"$node/properties"
	printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:%02x:00.0\n' "$1" >"$card/uevent"
	echo 0x1002 >"$card/vendor"
	echo "$3" >"$card/device"
	echo 0x120000 >"$card/class"
	echo $(($5 * 1073741824)) >"$card/mem_info_vram_total"
	echo auto >"$card/power_dpm_force_performance_level"
	: >"root/dev/dri/renderD$((127 + $1))"
	chmod 660 "root/dev/dri/renderD$((127 + $1))"
}

rocm() { # RELEASE PROGRAM...
	mkdir -p "root/opt/rocm-$1/bin" "root/opt/rocm-$1/.info"
	echo "$1-1" >"root/opt/rocm-$1/.info/version"
	release=$1
	shift
	for program; do
		printf '#!/bin/sh\n' >"root/opt/rocm-$release/bin/$program"
		chmod +x "root/opt/rocm-$release/bin/$program"
	done
}

# What differs from place to place is taken out: room on disks, where the tree is.
doctor() {
	env PATH="$PWD/bin" HOME=/nowhere ROCKIT_SYSFS_ROOT=root "$ROCKIT" doctor "$@" |
		/bin/sed "s|$PWD/||g; s/[0-9.]* GiB free/N GiB are free/"
}
