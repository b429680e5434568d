for how in "" --mangled --truncate; do
	# shellcheck disable=SC2086 # no option at all, the first time
	"$ROCKIT" convert fix/kernels_6.2.csv $how -f csv -o - | sed -n '2s/,[0-9].*//p'
	# shellcheck disable=SC2086
	"$ROCKIT" convert fix/kernels_7.0.csv $how -f csv -o - | sed -n '2s/,9.*//p'
done
