"$ROCKIT" diff
echo "status $?"
"$ROCKIT" diff one
echo "status $?"
"$ROCKIT" diff a b c
echo "status $?"
"$ROCKIT" diff a b --
echo "status $?"
"$ROCKIT" diff -- a b
echo "status $?"
"$ROCKIT" diff a b --gate
echo "status $?"
"$ROCKIT" diff a b --gate=-5
echo "status $?"
"$ROCKIT" diff a b --gate 5x
echo "status $?"
"$ROCKIT" diff a b --format csv
echo "status $?"
"$ROCKIT" diff a b -- c --gates 3
echo "status $?"
