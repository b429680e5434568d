. "$CASES/lib_doctor_machine.sh"
machine
driver 6.12.12
gpu 1 90402 0x74a1 1216 192
rm -r root/dev
: >root/.dockerenv
doctor
