# One rank has nobody to be compared with.
"$ROCKIT" report -q fix/kernels_7.0.csv --ranks; echo "status $?"
"$ROCKIT" report -q fix/kernels_7.0.csv --ranks --hotspots; echo "status $?"
