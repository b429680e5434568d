escape=$(printf '\033')
"$ROCKIT" report fix/kernels_7.0.csv | grep -c "$escape"
"$ROCKIT" report --color=always fix/kernels_7.0.csv | grep -c "$escape"
NO_COLOR=1 "$ROCKIT" report --color=always fix/kernels_7.0.csv | grep -c "$escape"
NO_COLOR=1 "$ROCKIT" report fix/kernels_7.0.csv | grep -c "$escape"
"$ROCKIT" report --color never fix/kernels_7.0.csv | grep -c "$escape"
exit 0
