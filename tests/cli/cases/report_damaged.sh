"$ROCKIT" report fix/damaged.csv
"$ROCKIT" report -q fix/damaged.csv >quiet
"$ROCKIT" report --format json fix/damaged.csv 2>/dev/null | grep -A9 warnings
