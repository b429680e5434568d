# Control characters in names never reach a terminal.
"$ROCKIT" report fix/control.csv
"$ROCKIT" report --color=always fix/control.csv | tail -n 1
cp fix/kernels_6.2.csv "$(printf 'a\033[31mb.csv')"
"$ROCKIT" report -v a*.csv
"$ROCKIT" report "$(printf 'no\033[31msuch.csv')"
echo $?
