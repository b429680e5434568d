/*
 * cup_library.c - see cup.h: finding CUPTI.
 *
 * We use the CUPTI that the program has loaded, else one next to the program's CUDA libraries, else
 * one that the loader finds, else the toolkit's; in each place the newest that works with the
 * driver. A CUPTI with a newer major release than the driver does not work; an older one does.
 */
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cup.h"

enum {
	OLDEST_API = 18, /* 11.8 */
	FIRST_DATED_API = 130000,
	NEWEST_MAJOR = 13,
	OLDEST_MAJOR = 11,
	PATH_BYTES = PATH_MAX,
};

static struct {
	int driver; /* 12040; 0: not known */
	char why[320];
} search;

/* ---- one library ---- */

static const char *fill_cupti(void *lib, struct cupti *f)
{
	const char *missing = NULL;

#define LOOK_UP(required, returns, name, parameters) \
	*(void **)&f->name = dlsym(lib, #name);      \
	if (required && !f->name)                    \
		missing = #name;
	CUPTI_FUNCTIONS(LOOK_UP)
	return missing;
}

/* CUPTI's version numbers: 18 is both 11.8 and 12.0; then one number per release up to 12.9. */
static int major_of(uint32_t api)
{
	if (api >= FIRST_DATED_API)
		return (int)(api / 10000);
	return api > OLDEST_API ? 12 : 11;
}

static bool fits(const char *path, uint32_t api)
{
	int major = major_of(api), driver = search.driver / 1000;

	if (api < OLDEST_API || major > NEWEST_MAJOR) {
		snprintf(search.why, sizeof(search.why),
			 "'%.200s' is an unknown release of CUPTI (API %u)", path, api);
		return false;
	}
	if (driver && major > driver) {
		snprintf(search.why, sizeof(search.why),
			 "'%.200s' is for CUDA %d, the driver for CUDA %d.%d", path, major, driver,
			 search.driver % 1000 / 10);
		return false;
	}
	return true;
}

static bool use(const char *path, int flags)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	const char *missing;
	uint32_t api = 0;

	if (!lib)
		return false;
	missing = fill_cupti(lib, &rk_cup.f);
	if (missing)
		snprintf(search.why, sizeof(search.why), "'%.200s' lacks %s", path, missing);
	else if (rk_cup.f.cuptiGetVersion(&api) == CUPTI_OK && fits(path, api)) {
		rk_cup.version = api;
		return true;
	}
	memset(&rk_cup.f, 0, sizeof(rk_cup.f));
	dlclose(lib);
	return false;
}

/* ---- places ---- */

/* Tries all possible releases in `dir`/`below`; "" means the loader's search path. */
static bool use_in(const char *dir, const char *below, int flags)
{
	static const char *const names[] = {
		[11] = "libcupti.so.11.8", [12] = "libcupti.so.12", [13] = "libcupti.so.13"
	};
	int major = search.driver / 1000;
	char path[PATH_BYTES];

	if (!major || major > NEWEST_MAJOR)
		major = NEWEST_MAJOR;
	for (; major >= OLDEST_MAJOR; major--) {
		int n = snprintf(path, sizeof(path), "%s%s%s%s", dir, dir[0] ? "/" : "", below,
				 names[major]);

		if (n < (int)sizeof(path) && use(path, flags))
			return true;
	}
	return false;
}

/* Starts from a folder with CUDA libraries: pip packages, or a toolkit with or without targets. */
static bool use_beside(const char *dir)
{
	static const char *const below[] = {
		"",
		"../../cuda_cupti/lib/",
		"../extras/CUPTI/lib64/",
		"../../../extras/CUPTI/lib64/",
	};

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++)
		if (use_in(dir, below[i], 0))
			return true;
	return false;
}

static bool is_cudas(const char *file)
{
	static const char *const starts[] = { "libcudart", "libcublas", "libnvrtc", "libcudnn" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(file, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Looks next to each CUDA library that the program has loaded. */
static bool use_programs(void)
{
	char line[PATH_BYTES + 128], before[PATH_BYTES] = "";
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/'), *slash = path ? strrchr(path, '/') : NULL;

		if (!slash || !is_cudas(slash + 1))
			continue;
		*slash = '\0';
		if (!strcmp(path, before))
			continue;
		snprintf(before, sizeof(before), "%s", path);
		found = use_beside(path);
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool use_toolkit(const char *root)
{
	return root && root[0] &&
	       (use_in(root, "lib64/", 0) || use_in(root, "extras/CUPTI/lib64/", 0) ||
		use_in(root, "lib/", 0));
}

bool rk_cup_library_open(void)
{
	char named[PATH_BYTES];
	void *lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	bool found, is_named = rk_rec_setting("cupti", named, sizeof(named));

	/* any of the driver's functions may be missing */
	if (!lib)
		lib = RTLD_DEFAULT;
#define LOOK_UP_DRIVER(required, returns, name, parameters) \
	*(void **)&rk_cup.driver.name = dlsym(lib, #name);
	CUDA_FUNCTIONS(LOOK_UP_DRIVER)
	if (rk_cup.driver.cuDriverGetVersion &&
	    rk_cup.driver.cuDriverGetVersion(&search.driver) != 0)
		search.driver = 0;
	if (is_named)
		found = use(named, 0);
	else
		found = use_in("", "", RTLD_NOLOAD) || use_programs() || use_in("", "", 0) ||
			use_toolkit(getenv("CUDA_HOME")) || use_toolkit(getenv("CUDA_PATH")) ||
			use_toolkit("/usr/local/cuda");
	if (!found && !search.why[0] && is_named)
		snprintf(search.why, sizeof(search.why), "'%.200s' is not a usable CUPTI", named);
	else if (!found && !search.why[0])
		snprintf(search.why, sizeof(search.why), "no CUPTI for CUDA 11.8 to 13 found");
	if (!found)
		rk_cup_say("%s: kernels are not recorded", search.why);
	return found;
}

/* ---- giving up CUPTI for a profiler in the program ---- */
/*
 * A process has one pair of callbacks, and PyTorch's profiler registers its own when it starts.
 * CUPTI then continues to fill the buffer that it got from us, and returns it to the profiler,
 * which does not know it: the program's own profile would lack everything in that buffer. So
 * libraries linked with CUPTI call us when they register buffers or a clock (we replace the slot in
 * their function table): we fetch our records, switch off what we had switched on, restore CUPTI's
 * own clock, and then forward the call. We do not see libraries that find the function with dlsym;
 * because we flush periodically, little can be lost then.
 */

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

/* What CUPTI uses if no clock is set. */
static uint64_t wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_way(void)
{
	if (rk_cup_is_child() || atomic_exchange(&yielded, true))
		return;
	rk_cup_switch_off();
	rk_cup.f.cuptiActivityFlushAll(0);
	rk_cup.f.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	if (rk_cup.f.cuptiActivityRegisterTimestampCallback &&
	    rk_cup.f.cuptiActivityRegisterTimestampCallback(NULL) != CUPTI_OK)
		rk_cup.f.cuptiActivityRegisterTimestampCallback(wall);
	rk_cup_thread_wake();
	rk_cup_say("a profiler in the program uses CUPTI: kernels later than %.1f s after CUDA "
		   "started are not recorded",
		   rk_cup_elapsed());
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

/* The parts of a loaded object that we need; addresses are in memory. */
struct object {
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *strings;
	uintptr_t base, readonly, readonly_end;
};

/* A value from the dynamic section; 0: missing. */
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

	/* The loader has turned offsets into addresses, except for some objects such as the vdso. */
	if (at && at < o->base)
		at += o->base;
	return (const void *)at;
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
