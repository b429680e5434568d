# sim-options.awk - rocprofv3-options.txt as a C table per release.
function has(list, release) {
	return index(" " list " ", " " release " ") > 0
}
function quote(text) {
	return text == "" ? "NULL" : "\"" text "\""
}
BEGIN {
	n_releases = split("6.2 6.3 6.4 7.0 7.13 10.1", release, " ")
	# Column of the matrix for each release.
	column[1] = 2; column[2] = 3; column[3] = 5; column[4] = 6; column[5] = 7; column[6] = 7
}
/^#/ || NF == 0 || $1 == "option" { next }
/^-/ {
	name[++n] = $1
	for (r = 1; r <= n_releases; r++)
		in_release[$1, r] = $column[r] == "x"
	kind = $8
	if (kind ~ /=/) {
		choices[$1] = substr(kind, index(kind, "=") + 1)
		kind = substr(kind, 1, index(kind, "=") - 1)
	} else if (kind != "0" && kind != "?" && kind != "+" && kind != "*") {
		choices[$1] = kind
		kind = "1"
	}
	nargs[$1] = kind == "" ? "1" : kind
	next
}
$1 == "only" {
	for (r = 1; r <= n_releases; r++) {
		in_release[$2, r] = 0
		for (f = 3; f <= NF; f++)
			if ($f == release[r])
				in_release[$2, r] = 1
	}
	next
}
$1 == "alias" {
	for (r = 1; r <= n_releases; r++) {
		all = NF == 3
		for (f = 4; f <= NF; f++)
			if ($f == release[r])
				all = 1
		if (all)
			dest[$2, r] = $3
	}
	next
}
$1 == "choices" {
	for (r = 1; r <= n_releases; r++)
		for (f = 3; f < NF; f++)
			if ($f == release[r])
				other[$2, r] = $NF
	next
}
$1 == "int" { number[$2] = 1; next }
{ print FILENAME ": line " FNR " is not understood" > "/dev/stderr"; failed = 1; exit 1 }
END {
	if (failed)
		exit 1
	print "/* Made from rocprofv3-options.txt. */\n#include \"sim_args.h\"\n"
	for (r = 1; r <= n_releases; r++) {
		print "static const struct option_row rows" r "[] = {"
		for (i = 1; i <= n; i++) {
			if (!in_release[name[i], r])
				continue
			to = dest[name[i], r] == "" ? name[i] : dest[name[i], r]
			list = other[to, r] == "" ? choices[to] : other[to, r]
			print "\t{ " quote(name[i]) ", " quote(to) ", '" nargs[to] "', " \
			      (number[to] ? "true" : "false") ", " quote(list) " },"
		}
		print "\t{ NULL, NULL, '0', false, NULL },\n};"
	}
	tables = "rows1"
	for (r = 2; r <= n_releases; r++)
		tables = tables ", rows" r
	print "const struct option_row *const option_tables[RELEASES] = { " tables " };"
}
