# No GPU: said in one line; a program runs all the same.
ROCKIT_SYSFS_ROOT=$PWD/nothing
export ROCKIT_SYSFS_ROOT
"$ROCKIT" monitor; echo $?
"$ROCKIT" monitor -d made/here -- sh -c 'echo ran; exit 5'; echo $?
. "$CASES/lib_fake_gpus.sh"
rm gpus/sys/class/drm/card0/device/gpu_metrics
"$ROCKIT" monitor --metrics energy -d made; echo $?
"$ROCKIT" monitor --metrics energy,busy -d some --duration 0.01 2>&1 | settle
ls
