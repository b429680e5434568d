# Damaged input: the good rows and a counted warning, or one line that says what and where.
good=fix/kernels_7.0.csv
look() {
	"$ROCKIT" report --format json "$1" >out 2>err
	echo "== $1: $?"
	sed -n 's/.*"kernel_rows":\([0-9]*\),"sum_duration_ns":\([0-9]*\),.*/rows \1, sum \2 ns/p
		s/.*{"name":\("[^}]*"\),"calls".*/name \1/p
		s/.*{"kind":\("[^"]*"\),"file":[^,]*,"line":\([^,]*\),"count":\([^,]*\),.*/warning \1 line \2 count \3/p' out
	cat err
	"$ROCKIT" convert "$1" -o new.parquet 2>/dev/null
	echo "convert: $?, $(ls new.parquet 2>/dev/null | wc -l) file"
	rm -f new.parquet
}
head -n 1 $good >header_only.csv
look header_only.csv
head -c 700 $good >truncated.csv
look truncated.csv
head -c 100 $good >cut_header.csv
look cut_header.csv
printf '\0\1\2\377\376binary\n\n\0,\0,\n' >binary
look binary
{ printf '\357\273\277'; cat $good; } >mark.csv
look mark.csv
awk '{ printf "%s\r\n", $0 }' $good >crlf.csv
look crlf.csv
awk '{ printf NR % 2 ? "%s\r\n" : "%s\n", $0 }' $good >mixed.csv
look mixed.csv
printf %s "$(cat $good)" >no_newline.csv
look no_newline.csv
awk '{ print; print "" }' $good >blank.csv
look blank.csv
{ cat $good; echo a,b; tail -n 1 $good | sed 's/$/,1,2/'; head -n 1 $good; } >counts.csv
look counts.csv
{ head -n 1 $good; tail -n 1 $good | sed 's/"\([a-z]\)/"say \"hi\", \1/'; } >names.csv
look names.csv
{ head -n 1 $good; printf '"KERNEL_DISPATCH","Agent 4",1,0,9,1,7,"'; head -c 2000000 /dev/zero | tr '\0' x; printf '",5,10,20,0,0,8,0,16,64,1,1,64,1,1\n'; tail -n 1 $good; } >huge.csv
look huge.csv
{ head -n 1 $good; printf '"KERNEL_DISPATCH","Agent 4",1,0,9,1,7,"a\0b\377",5,10,20,0,0,8,0,16,64,1,1,64,1,1\n'; } >bytes.csv
look bytes.csv
{ head -n 1 $good; printf '"KERNEL_DISPATCH","Agent 4",1,0,9,1,7,"k",5,99999999999999999999,20,0,0,8,0,16,64,1,1,64,1,1\n'; printf '"KERNEL_DISPATCH","Agent 4",1,0,9,1,7,"k",5,8.1E+14,8.1E+14,x,0,8,0,16,64,1,1,64,1,1\n'; } >numbers.csv
look numbers.csv
ls
