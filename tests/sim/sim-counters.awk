# sim-counters.awk - sim-counters.txt as a C table.
BEGIN { print "/* Made from sim-counters.txt. */\n#include \"sim.h\"\n\nconst struct counter_row counter_rows[] = {" }
/^#/ || NF == 0 { next }
{
	needs = ""
	for (f = 4; f <= NF; f++)
		needs = needs (f > 4 ? " " : "") $f
	print "\t{ \"" $1 "\", \"" $2 "\", \"" $3 "\", \"" needs "\" },"
}
END { print "\t{ NULL, NULL, NULL, NULL },\n};" }
