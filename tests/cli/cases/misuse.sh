# One line on stderr that says what to do, exit 2.
try() {
	"$ROCKIT" "$@"
	echo "$? $*"
}
try conver
try nonsense
try --nonsense
try convert --foo
try convert -Z
try report --tpo 3
try report --top
try report --top=-1
try report --top=1x
try report --top=99999999999999999999
try report --by kernel
try report --format xml
try report --quiet=yes
try report --color=blue
try report -n
try convert fix/kernels_7.0.csv
try convert fix/kernels_7.0.csv -o ""
try convert -o out.parquet
try convert fix/kernels_7.0.csv -o out.x -f otf2
try convert fix/kernels_7.0.csv -o out.csv --mangled --truncate
try convert fix/kernels_7.0.csv -o out.csv --data-set
ls
