. "$CASES/lib_doctor_machine.sh"
machine
driver 6.12.12
gpu 1 110000 0x744c 192 24
rocm 6.4.1 rocprofv3
doctor
