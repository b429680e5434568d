"$ROCKIT" help report >one
"$ROCKIT" report -h >two
cmp one two && cat one
