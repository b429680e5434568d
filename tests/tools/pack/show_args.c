/* show_args.c - what a launcher starts in the tests: says its arguments, $SHOWN, and ends with $STATUS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *shown = getenv("SHOWN"), *status = getenv("STATUS");

	for (int i = 0; i < argc; i++)
		fwrite(argv[i], 1, strlen(argv[i]) + 1, stdout);
	fputs(shown ? shown : "(unset)", stdout);
	return status ? status[0] - '0' : 0;
}
