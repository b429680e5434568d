"$ROCKIT" help doctor >one
"$ROCKIT" doctor -h >two
cmp one two && cat one
