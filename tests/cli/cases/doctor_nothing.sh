. "$CASES/lib_doctor_machine.sh"
machine
doctor
doctor --format csv
