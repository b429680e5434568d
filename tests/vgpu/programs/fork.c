/*
 * fork.c - a program that has used the GPU forks, and goes on. Prints one JSON line with what the
 * child's HIP said ("none" if it did not ask) and how the child ended.
 *
 * usage: fork exit|_exit|exec|hip|become    "become": the program itself becomes another one
 */
#include <sys/wait.h>
#include <unistd.h>

#include "hip.h"

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";
	hipFunction_t scale;
	char said[64] = "none";
	int status, ends[2];
	pid_t child;
	ssize_t n;
	void *p;

	MUST(hipInit(0));
	scale = function(load_module(), "scale");
	MUST(hipMalloc(&p, 1 << 20));
	launch(scale, (struct who){ 1, 0, 0, 1 }, p, 4, 0);
	MUST(hipDeviceSynchronize());
	if (strcmp(how, "become") == 0) {
		execl("/bin/echo", "echo", "{\"kernels\":1}", (char *)NULL);
		return 2;
	}
	if (pipe(ends) != 0 || (child = fork()) < 0)
		return 2;
	if (child == 0) {
		if (strcmp(how, "exec") == 0)
			execl("/bin/true", "true", (char *)NULL);
		if (strcmp(how, "hip") == 0) {
			hipError_t rc = hipMalloc(&p, 1ul << 30); /* more than HIP may have kept */

			if (write(ends[1], hipGetErrorName(rc), strlen(hipGetErrorName(rc))) < 0)
				_exit(2);
		}
		if (strcmp(how, "exit") == 0)
			exit(0);
		_exit(0);
	}
	close(ends[1]);
	for (uint32_t i = 1; i <= 20; i++)
		launch(scale, (struct who){ 1, i, 0, 1 }, p, 4, 0);
	MUST(hipDeviceSynchronize());
	n = read(ends[0], said, sizeof(said) - 1);
	if (n > 0)
		said[n] = '\0';
	if (waitpid(child, &status, 0) != child)
		return 2;
	MUST(hipFree(p));
	printf("{\"kernels\":%u,\"said\":\"%s\",\"status\":%d}\n", launched, said, status);
	return 0;
}
