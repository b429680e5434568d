/*
 * replay_main.c - runs a fuzz target over files, without libFuzzer.
 *
 *	replay-NAME FILE|DIRECTORY...
 *
 * Each file is given as it is, cut short, and with bytes changed: ROCKIT_MUTATIONS times
 * (default 200), the same changes every time. A fault ends the process; the file's name has been
 * printed before.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_FILE_BYTES = 1 << 20, MAX_DEPTH = 8 };

static unsigned long ninputs;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* An exact-size copy, so that the sanitizer sees a read of one byte past the end. */
static void give(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy) {
		fputs("out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	ninputs++;
}

static void mutate(const uint8_t *data, size_t size, unsigned rounds)
{
	static const uint8_t odd[] = { 0, 0xff, 0x7f, 0x80, '"', '\n', ',', '-', '0', '9' };
	static uint8_t work[MAX_FILE_BYTES];
	uint64_t state = 0x9e3779b97f4a7c15u + size;

	for (unsigned r = 0; r < rounds && size; r++) {
		size_t len = r % 3 == 0 ? (size_t)(next_random(&state) % size) : size;
		uint64_t changes = 1 + next_random(&state) % 8;

		memcpy(work, data, size);
		for (uint64_t c = 0; c < changes && r % 3 != 0; c++)
			work[next_random(&state) % size] = odd[next_random(&state) % sizeof(odd)];
		give(work, len);
	}
}

static int replay_file(const char *path, unsigned rounds)
{
	static uint8_t data[MAX_FILE_BYTES];
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f) {
		fprintf(stderr, "cannot open '%s': %s\n", path, strerror(errno));
		return -1;
	}
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	printf("%s\n", path);
	fflush(stdout);
	give(data, size);
	mutate(data, size, rounds);
	return 0;
}

static int replay_path(const char *path, unsigned rounds, int depth)
{
	struct stat st;
	struct dirent **names;
	int n, rc = 0;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return replay_file(path, rounds);
	n = depth < MAX_DEPTH ? scandir(path, &names, NULL, alphasort) : -1;
	if (n < 0) {
		fprintf(stderr, "cannot read directory '%s'\n", path);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		char child[4096];
		int len = snprintf(child, sizeof(child), "%s/%s", path, names[i]->d_name);

		if (names[i]->d_name[0] != '.' &&
		    (len >= (int)sizeof(child) || replay_path(child, rounds, depth + 1) < 0))
			rc = -1;
		free(names[i]);
	}
	free(names);
	return rc;
}

int main(int argc, char **argv)
{
	const char *text = getenv("ROCKIT_MUTATIONS");
	unsigned rounds = 200;
	int rc = 0;

	if (text && sscanf(text, "%u", &rounds) != 1)
		rounds = 200;
	give((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		if (replay_path(argv[i], rounds, 0) < 0)
			rc = 1;
	printf("%lu inputs\n", ninputs);
	return rc;
}
