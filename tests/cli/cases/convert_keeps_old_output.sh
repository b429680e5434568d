# A conversion that fails leaves what was there.
echo old >out.csv
"$ROCKIT" convert missing.csv -o out.csv; echo $?
cat out.csv
ls
