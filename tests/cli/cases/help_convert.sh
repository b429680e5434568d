"$ROCKIT" help convert >one
"$ROCKIT" convert --help >two
cmp one two && cat one
