. "$CASES/lib_doctor_machine.sh"
machine
driver 6.12.12
gpu 1 90010 0x740f 416 64
rocm 6.4.1 rocprofv3 rocprof-compute rocprof-sys-sample
rocm 7.0.2 rocprofv3 rocprof-compute rocprof-sys-sample
doctor
echo
ln -s ../root/opt/rocm-6.4.1/bin/rocprofv3 bin/rocprofv3
export ROCM_PATH="$PWD/root/opt/rocm-7.0.2"
doctor --format csv | grep '^releases'
