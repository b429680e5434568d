/*
 * launcher_x86_64.c - the launcher's machine code for x86-64.
 *
 * Each line has the bytes and the instruction as a comment. A test assembles the comments and
 * compares. Texts follow the code, and the path follows the texts.
 */
#include "pack/elf/launcher_impl.h"

/* clang-format off */
static const uint8_t code[] = {
	/* rbx: the stack as the kernel left it; rbp: argv; r12: envp; r13: buffer of 4096 bytes */
	0x48, 0x89, 0xe3,                               /* _start: mov %rsp, %rbx */
	0x48, 0x8b, 0x03,                               /* mov (%rbx), %rax */
	0x48, 0x8d, 0x6b, 0x08,                         /* lea 8(%rbx), %rbp */
	0x4c, 0x8d, 0x64, 0xc3, 0x10,                   /* lea 16(%rbx,%rax,8), %r12 */
	0x48, 0x81, 0xec, 0x00, 0x11, 0x00, 0x00,       /* sub $4352, %rsp */
	0x4c, 0x8d, 0xac, 0x24, 0x00, 0x01, 0x00, 0x00, /* lea 256(%rsp), %r13 */
	/* r14: the path for the message, until there is a better one */
	0x4c, 0x8d, 0x35, 0x85, 0x01, 0x00, 0x00,       /* lea path(%rip), %r14 */

	/* readlink("/proc/self/exe", buffer, 4096) */
	0xb8, 0x59, 0x00, 0x00, 0x00,                   /* mov $89, %eax */
	0x48, 0x8d, 0x3d, 0x4e, 0x01, 0x00, 0x00,       /* lea exe(%rip), %rdi */
	0x4c, 0x89, 0xee,                               /* mov %r13, %rsi */
	0xba, 0x00, 0x10, 0x00, 0x00,                   /* mov $4096, %edx */
	0x0f, 0x05,                                     /* syscall */
	0x49, 0x8d, 0x7c, 0x05, 0x00,                   /* lea (%r13,%rax), %rdi */
	/* no answer, one that may have been cut, or "(unreachable)...": the name it was started by */
	0x48, 0x85, 0xc0,                               /* test %rax, %rax */
	0x7e, 0x0f,                                     /* jle execfn */
	0x48, 0x3d, 0x00, 0x10, 0x00, 0x00,             /* cmp $4096, %rax */
	0x7d, 0x07,                                     /* jge execfn */
	0x41, 0x80, 0x7d, 0x00, 0x2f,                   /* cmpb $'/', (%r13) */
	0x74, 0x3f,                                     /* je cut */

	/* AT_EXECFN is in the auxiliary vector, after the environment's NULL */
	0x4c, 0x89, 0xe6,                               /* execfn: mov %r12, %rsi */
	0x48, 0xad,                                     /* env: lodsq */
	0x48, 0x85, 0xc0,                               /* test %rax, %rax */
	0x75, 0xf9,                                     /* jne env */
	0x48, 0xad,                                     /* aux: lodsq */
	0x48, 0x89, 0xc1,                               /* mov %rax, %rcx */
	0x48, 0xad,                                     /* lodsq */
	0x48, 0x83, 0xf9, 0x1f,                         /* cmp $31, %rcx */
	0x74, 0x0d,                                     /* je have */
	0x48, 0x85, 0xc9,                               /* test %rcx, %rcx */
	0x75, 0xee,                                     /* jne aux */
	/* ENOENT */
	0x41, 0xbf, 0x02, 0x00, 0x00, 0x00,             /* mov $2, %r15d */
	0xeb, 0x61,                                     /* jmp fail */
	0x48, 0x89, 0xc6,                               /* have: mov %rax, %rsi */
	0x4c, 0x89, 0xef,                               /* mov %r13, %rdi */
	0x49, 0x8d, 0x95, 0x00, 0x10, 0x00, 0x00,       /* lea 4096(%r13), %rdx */
	0x48, 0x39, 0xd7,                               /* copy: cmp %rdx, %rdi */
	0x73, 0x49,                                     /* jae long */
	0xac,                                           /* lodsb */
	0xaa,                                           /* stosb */
	0x84, 0xc0,                                     /* test %al, %al */
	0x75, 0xf5,                                     /* jne copy */
	0x48, 0xff, 0xcf,                               /* dec %rdi */

	/* rdi: after the last byte; go back to after the last slash */
	0x4c, 0x39, 0xef,                               /* cut: cmp %r13, %rdi */
	0x74, 0x0b,                                     /* je append */
	0x80, 0x7f, 0xff, 0x2f,                         /* cmpb $'/', -1(%rdi) */
	0x74, 0x05,                                     /* je append */
	0x48, 0xff, 0xcf,                               /* dec %rdi */
	0xeb, 0xf0,                                     /* jmp cut */

	0x4c, 0x89, 0xf6,                               /* append: mov %r14, %rsi */
	0x49, 0x8d, 0x95, 0x00, 0x10, 0x00, 0x00,       /* lea 4096(%r13), %rdx */
	0x48, 0x39, 0xd7,                               /* more: cmp %rdx, %rdi */
	0x73, 0x21,                                     /* jae long */
	0xac,                                           /* lodsb */
	0xaa,                                           /* stosb */
	0x84, 0xc0,                                     /* test %al, %al */
	0x75, 0xf5,                                     /* jne more */

	/* execve(buffer, argv, envp) comes back only when it failed */
	0x4d, 0x89, 0xee,                               /* mov %r13, %r14 */
	0xb8, 0x3b, 0x00, 0x00, 0x00,                   /* mov $59, %eax */
	0x4c, 0x89, 0xef,                               /* mov %r13, %rdi */
	0x48, 0x89, 0xee,                               /* mov %rbp, %rsi */
	0x4c, 0x89, 0xe2,                               /* mov %r12, %rdx */
	0x0f, 0x05,                                     /* syscall */
	0x41, 0x89, 0xc7,                               /* mov %eax, %r15d */
	0x41, 0xf7, 0xdf,                               /* neg %r15d */
	0xeb, 0x06,                                     /* jmp fail */

	/* ENAMETOOLONG */
	0x41, 0xbf, 0x24, 0x00, 0x00, 0x00,             /* long: mov $36, %r15d */

	/* r15: the error; its decimal digits end at 128(%rsp) with a NUL */
	0x4c, 0x8d, 0x84, 0x24, 0x80, 0x00, 0x00, 0x00, /* fail: lea 128(%rsp), %r8 */
	0x41, 0xc6, 0x00, 0x00,                         /* movb $0, (%r8) */
	0x44, 0x89, 0xf8,                               /* mov %r15d, %eax */
	0xb9, 0x0a, 0x00, 0x00, 0x00,                   /* mov $10, %ecx */
	0x31, 0xd2,                                     /* digit: xor %edx, %edx */
	0xf7, 0xf1,                                     /* div %ecx */
	0x83, 0xc2, 0x30,                               /* add $'0', %edx */
	0x49, 0xff, 0xc8,                               /* dec %r8 */
	0x41, 0x88, 0x10,                               /* mov %dl, (%r8) */
	0x85, 0xc0,                                     /* test %eax, %eax */
	0x75, 0xef,                                     /* jne digit */

	/* six texts: argv[0], ": cannot start ", path, " (error ", digits, ")\n" */
	0x49, 0x89, 0xe1,                               /* mov %rsp, %r9 */
	0x48, 0x8b, 0x75, 0x00,                         /* mov (%rbp), %rsi */
	0x48, 0x85, 0xf6,                               /* test %rsi, %rsi */
	0x75, 0x03,                                     /* jne name */
	/* no argv[0] */
	0x4c, 0x89, 0xf6,                               /* mov %r14, %rsi */
	0xe8, 0x54, 0x00, 0x00, 0x00,                   /* name: call put */
	0x48, 0x8d, 0x35, 0x75, 0x00, 0x00, 0x00,       /* lea start(%rip), %rsi */
	0xe8, 0x48, 0x00, 0x00, 0x00,                   /* call put */
	0x4c, 0x89, 0xf6,                               /* mov %r14, %rsi */
	0xe8, 0x40, 0x00, 0x00, 0x00,                   /* call put */
	0x48, 0x8d, 0x35, 0x71, 0x00, 0x00, 0x00,       /* lea error(%rip), %rsi */
	0xe8, 0x34, 0x00, 0x00, 0x00,                   /* call put */
	0x4c, 0x89, 0xc6,                               /* mov %r8, %rsi */
	0xe8, 0x2c, 0x00, 0x00, 0x00,                   /* call put */
	0x48, 0x8d, 0x35, 0x66, 0x00, 0x00, 0x00,       /* lea end(%rip), %rsi */
	0xe8, 0x20, 0x00, 0x00, 0x00,                   /* call put */

	/* writev(2, texts, 6); exit_group(127) */
	0xb8, 0x14, 0x00, 0x00, 0x00,                   /* mov $20, %eax */
	0xbf, 0x02, 0x00, 0x00, 0x00,                   /* mov $2, %edi */
	0x48, 0x89, 0xe6,                               /* mov %rsp, %rsi */
	0xba, 0x06, 0x00, 0x00, 0x00,                   /* mov $6, %edx */
	0x0f, 0x05,                                     /* syscall */
	0xb8, 0xe7, 0x00, 0x00, 0x00,                   /* mov $231, %eax */
	0xbf, 0x7f, 0x00, 0x00, 0x00,                   /* mov $127, %edi */
	0x0f, 0x05,                                     /* syscall */

	/* an iovec at r9 for the text at rsi */
	0x49, 0x89, 0x31,                               /* put: mov %rsi, (%r9) */
	0x31, 0xc0,                                     /* xor %eax, %eax */
	0x80, 0x3c, 0x06, 0x00,                         /* len: cmpb $0, (%rsi,%rax) */
	0x74, 0x05,                                     /* je done */
	0x48, 0xff, 0xc0,                               /* inc %rax */
	0xeb, 0xf5,                                     /* jmp len */
	0x49, 0x89, 0x41, 0x08,                         /* done: mov %rax, 8(%r9) */
	0x49, 0x83, 0xc1, 0x10,                         /* add $16, %r9 */
	0xc3,                                           /* ret */
};

static const uint8_t texts[] = {
	0x2f, 0x70, 0x72, 0x6f, 0x63, 0x2f, 0x73, 0x65,
	0x6c, 0x66, 0x2f, 0x65, 0x78, 0x65, 0x00,       /* exe: .asciz "/proc/self/exe" */
	0x3a, 0x20, 0x63, 0x61, 0x6e, 0x6e, 0x6f, 0x74,
	0x20, 0x73, 0x74, 0x61, 0x72, 0x74, 0x20, 0x00, /* start: .asciz ": cannot start " */
	0x20, 0x28, 0x65, 0x72, 0x72, 0x6f, 0x72, 0x20,
	0x00,                                           /* error: .asciz " (error " */
	0x29, 0x0a, 0x00,                               /* end: .asciz ")\n" */
};
/* clang-format on */

const struct rk_launcher_code rk_launcher_x86_64 = {
	.code = code,
	.ncode = sizeof(code),
	.texts = texts,
	.ntexts = sizeof(texts),
};
