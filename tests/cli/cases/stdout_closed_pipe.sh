# A reader that goes away is not an error.
"$ROCKIT" help | true
{ "$ROCKIT" report --format json fix/run; } | head -n 1
trap '' PIPE
"$ROCKIT" help | true
exit 0
