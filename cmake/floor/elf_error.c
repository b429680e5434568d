/*
 * elf_error.c - the error number of libelf, for a shared library that holds libelf.
 *
 * The archive of libelf is compiled for programs: its thread-local error number stands at a fixed
 * offset that only a program's own variables have, and no shared library can be linked with that
 * object. Defined here, these two names leave it out; the rest of libelf has no such variables.
 */
int elf_errno(void);
void __libelf_seterrno(int value);

static _Thread_local int last_error;

int elf_errno(void)
{
	int value = last_error;

	last_error = 0;
	return value;
}

void __libelf_seterrno(int value)
{
	last_error = value;
}
