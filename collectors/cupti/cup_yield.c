/*
 * cup_yield.c - see cup.h: giving CUPTI up to a profiler in the program.
 *
 * There is one pair of callbacks in a process, and PyTorch's profiler registers its own when it
 * begins. CUPTI then goes on to fill the buffer of ours that it has, and gives it to the profiler,
 * which does not know it: the program's own profile would lack everything in there. So the libraries
 * that are linked with CUPTI call us instead when they register buffers or a clock (the slot in their
 * table of functions is exchanged): our records are fetched, what we have switched on is switched off,
 * the clock is CUPTI's own again, and then the call goes through. Whoever finds the
 * function with dlsym is not seen; to him the period of flushing leaves little that can be lost.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cup.h"

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_SLOT(type) false
#endif

#define LIBRARY "libcupti.so"

static atomic_bool yielded;

bool rk_cup_yielded(void)
{
	return atomic_load(&yielded);
}

/* ---- the call ---- */

/* What CUPTI does when nobody has told it a clock. */
static uint64_t wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void give_up(void)
{
	rk_cup_switch_off();
	rk_cup.f.cuptiActivityFlushAll(0);
	rk_cup.f.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	if (rk_cup.f.cuptiActivityRegisterTimestampCallback &&
	    rk_cup.f.cuptiActivityRegisterTimestampCallback(NULL) != CUPTI_OK)
		rk_cup.f.cuptiActivityRegisterTimestampCallback(wall);
	rk_cup_thread_wake();
	rk_cup_say("a profiler in the program takes CUPTI: kernels later than %.1f s after CUDA "
		   "began are not recorded",
		   rk_cup_elapsed());
}

static void make_way(void)
{
	if (!rk_cup_is_child() && !atomic_exchange(&yielded, true))
		give_up();
}

static cupti_result buffers_registered(cupti_requested *request, cupti_completed *complete)
{
	make_way();
	return rk_cup.f.cuptiActivityRegisterCallbacks(request, complete);
}

static cupti_result clock_registered(cupti_timestamp *f)
{
	make_way();
	return rk_cup.f.cuptiActivityRegisterTimestampCallback(f);
}

static uintptr_t replacement(const char *name)
{
	cupti_result (*buffers)(cupti_requested *, cupti_completed *) = buffers_registered;
	cupti_result (*clock)(cupti_timestamp *) = clock_registered;

	if (strcmp(name, "cuptiActivityRegisterCallbacks") == 0)
		return (uintptr_t)buffers;
	if (strcmp(name, "cuptiActivityRegisterTimestampCallback") == 0 &&
	    rk_cup.f.cuptiActivityRegisterTimestampCallback)
		return (uintptr_t)clock;
	return 0;
}

/* ---- who may make it ---- */

/* What of an object matters; addresses as they are in memory. */
struct object {
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *strings;
	uintptr_t base, readonly, readonly_end;
};

/* A value of the dynamic section; 0: it has none. */
static uintptr_t value(const struct object *o, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_val;
	return 0;
}

static const void *address(const struct object *o, ElfW(Sxword) tag)
{
	uintptr_t at = value(o, tag);

	/* The loader has made addresses of offsets, but for some objects such as the vdso. */
	return at ? (const void *)(at < o->base ? o->base + at : at) : NULL;
}

static bool is_linked(const struct object *o)
{
	for (const ElfW(Dyn) *d = o->dynamic; o->strings && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED &&
		    !strncmp(o->strings + d->d_un.d_val, LIBRARY, sizeof(LIBRARY) - 1))
			return true;
	return false;
}

static uintptr_t page_bytes(void)
{
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

static void put_slot(const struct object *o, uintptr_t slot, uintptr_t f)
{
	uintptr_t page = slot & ~(page_bytes() - 1);
	size_t bytes = slot + sizeof(void *) - page;
	bool readonly = slot >= o->readonly && slot < o->readonly_end;

	if (readonly && mprotect((void *)page, bytes, PROT_READ | PROT_WRITE) != 0)
		return;
	__atomic_store_n((uintptr_t *)slot, f, __ATOMIC_RELEASE);
	if (readonly)
		mprotect((void *)page, bytes, PROT_READ);
}

static void put_slots(const struct object *o, const ElfW(Rela) * r, size_t bytes)
{
	for (const ElfW(Rela) *end = r + bytes / sizeof(*r); r && r < end; r++) {
		const ElfW(Sym) *s = &o->symbols[ELF64_R_SYM(r->r_info)];
		uintptr_t f = 0;

		if (IS_SLOT(ELF64_R_TYPE(r->r_info)))
			f = replacement(o->strings + s->st_name);
		if (f)
			put_slot(o, o->base + r->r_offset, f);
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct object o = { .base = info->dlpi_addr };

	(void)size;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_DYNAMIC)
			o.dynamic = (const void *)(o.base + p->p_vaddr);
		if (p->p_type == PT_GNU_RELRO) {
			o.readonly = o.base + p->p_vaddr;
			/* the loader protects whole pages */
			o.readonly_end = (o.readonly + p->p_memsz) & ~(page_bytes() - 1);
		}
	}
	if (!o.dynamic)
		return 0;
	o.strings = address(&o, DT_STRTAB);
	o.symbols = address(&o, DT_SYMTAB);
	if (!o.symbols || !is_linked(&o))
		return 0;
	put_slots(&o, address(&o, DT_RELA), value(&o, DT_RELASZ));
	if (value(&o, DT_PLTREL) == DT_RELA)
		put_slots(&o, address(&o, DT_JMPREL), value(&o, DT_PLTRELSZ));
	return 0;
}

void rk_cup_yield_watch(void)
{
	dl_iterate_phdr(look_at, NULL);
}
