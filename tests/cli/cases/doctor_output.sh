. "$CASES/lib_doctor_machine.sh"
machine
doctor -o found.txt
tail -n 3 found.txt
doctor --color=always | grep -c "$(printf '\033')"
"$ROCKIT" doctor here
echo $?
"$ROCKIT" doctor --format yaml
echo $?
"$ROCKIT" doctor -o no/such/place
echo $?
"$ROCKIT" doctor >/dev/full
echo $?
