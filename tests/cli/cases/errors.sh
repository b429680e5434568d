# One line that says what and where, exit 1.
"$ROCKIT" report missing.csv; echo $?
"$ROCKIT" convert missing.csv -o out.csv; echo $?
printf 'just text\n' >note.txt
"$ROCKIT" report note.txt; echo $?
: >empty
"$ROCKIT" report empty; echo $?
"$ROCKIT" convert fix/kernels_7.0.csv -o missing/out.csv; echo $?
"$ROCKIT" report fix/kernels_7.0.csv -o missing/out.txt; echo $?
mkdir nothing
"$ROCKIT" report nothing; echo $?
ls
