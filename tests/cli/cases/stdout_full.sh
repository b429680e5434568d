[ -e /dev/full ] || { echo "no /dev/full" >&2; exit 77; }
"$ROCKIT" help >/dev/full; echo $?
"$ROCKIT" report fix/kernels_7.0.csv >/dev/full; echo $?
"$ROCKIT" convert fix/kernels_7.0.csv -f csv -o - >/dev/full; echo $?
