"$ROCKIT" help metrics >one
"$ROCKIT" metrics -h >two
cmp one two && cat one
