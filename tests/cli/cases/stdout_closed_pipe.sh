# A reader that goes away is no error worth a word.
"$ROCKIT" help | true
{ "$ROCKIT" report --format json fix/run; } | head -n 1
trap '' PIPE
"$ROCKIT" help | true
exit 0
