# --html: one page, and nothing printed unless that is asked for.
page() {
	sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' "$1"
	grep -c '<script>' "$1"
	grep -o "default-src 'none'" "$1"
}
"$ROCKIT" report fix/kernels_7.0.csv --html out.html && ls
page out.html
"$ROCKIT" report fix/kernels_7.0.csv fix/kernels_6.2.csv --html two.html --top 1 --format json | head -c 12
page two.html
"$ROCKIT" report -q fix/run/ --html - | grep -c '</html>'
echo "the same bytes with any number of threads"
"$ROCKIT" report fix/kernels_7.0.csv --html one.html --threads 1 && cmp one.html out.html
"$ROCKIT" report fix/damaged.csv --html damaged.html --format text --top 1
"$ROCKIT" report fix/kernel_stats.csv --html stats.html
grep -o '"stats_of":"[a-z]*"' stats.html
"$ROCKIT" report fix/kernels_7.0.csv --html none/out.html
"$ROCKIT" report fix/kernels_7.0.csv --html ''
cat fix/kernels_7.0.csv | "$ROCKIT" report - --html pipe.html
ls
