"$ROCKIT" help diff >one
"$ROCKIT" diff -h >two
cmp one two && cat one
