# What does not depend on speed: other times, stream numbers and orders make no difference.
. "$CASES/lib_diff_runs.sh"
steps 6 10000 500 | launches >a.csv
steps 6 17000 0 | awk '{ $5 = 9 - $5; print }' | launches 5 >b.csv
{ head -n 1 b.csv; tail -n +2 b.csv | sort -r; } >shuffled.csv
steps 6 10000 500 | awk '{ print } NR == 8 { print }' | launches >doubled.csv
steps 6 10000 500 | sed '5s/64 0$/32 0/' | launches >grid.csv
for other in b shuffled doubled grid; do
	"$ROCKIT" diff --structure a.csv $other.csv
	echo "status $?: $other"
done
"$ROCKIT" diff --structure --gate 50 a.csv doubled.csv >/dev/null
echo "status $?: with a gate"
"$ROCKIT" diff --structure -f json a.csv b.csv | grep -E '"hash"|equal|verdict'
"$ROCKIT" diff --structure -f markdown a.csv doubled.csv
# each run of B has to do what some run of A did
"$ROCKIT" diff -s a.csv doubled.csv -- doubled.csv b.csv
echo "status $?: both variants are known"
"$ROCKIT" diff -s a.csv -- a.csv grid.csv
echo "status $?: one is not"
