"$ROCKIT" --version >one
"$ROCKIT" version >two
"$ROCKIT" -V >three
cmp one two && cmp one three && sed 's/[0-9]*\.[0-9]*\.[0-9]*/VERSION/' one
"$ROCKIT" version more; echo $?
