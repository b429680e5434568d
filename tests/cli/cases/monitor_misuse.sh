# One line that says what is wrong, exit 2.
. "$CASES/lib_fake_gpus.sh"
"$ROCKIT" monitor --metrics pwer; echo $?
"$ROCKIT" monitor --metrics power,fans; echo $?
"$ROCKIT" monitor --metrics ,; echo $?
"$ROCKIT" monitor --interval 0; echo $?
"$ROCKIT" monitor --interval 3600001; echo $?
for s in 0 x 1s . 1. .5 -1 999999999 ''; do "$ROCKIT" monitor --duration "$s"; echo $?; done
"$ROCKIT" monitor --intervall 5; echo $?
"$ROCKIT" monitor -d '' true; echo $?
"$ROCKIT" monitor --format csv; echo $?
"$ROCKIT" monitor a -- b; echo $?
ls
