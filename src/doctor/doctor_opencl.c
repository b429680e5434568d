/* doctor_opencl.c - what our own collector needs: its library, and an OpenCL to trace. */
#include <string.h>

#include "base/text.h"
#include "doctor/doctor_impl.h"
#include "tool/collector.h"

/* Names of the drivers the loader knows, "pocl, amdocl64"; 0 for none. */
static size_t name_drivers(struct rk_look *l, struct rk_bytes *out)
{
	struct rk_list files = { 0 };
	char dir[RK_SYSFS_PATH];
	size_t n = 0;

	rk_sysfs_path(dir, l->root, "/etc/OpenCL/vendors");
	if (rk_sysfs_list(dir, &files, NULL) < 0)
		l->bad = true;
	for (size_t i = 0; i < files.n; i++) {
		size_t len = strlen(files.v[i]);

		if (rk_text_ends(files.v[i], len, ".icd"))
			rk_bytes_printf(out, "%s%.*s", n++ ? ", " : "", (int)len - 4, files.v[i]);
	}
	rk_list_release(&files);
	return n;
}

void rk_look_opencl(struct rk_look *l)
{
	struct rk_bytes path, names;
	bool collector;
	size_t drivers;

	rk_bytes_init(&path, 1 << 16);
	rk_bytes_init(&names, 1 << 12);
	collector = rk_collector_find("librockit-opencl.so", &path);
	drivers = name_drivers(l, &names);
	l->opencl = collector && drivers;
	l->bad |= path.bad || names.bad;
	if (l->opencl) {
		rk_look_say(l, "opencl", RK_DOCTOR_OK, "OpenCL", "rockit traces it itself on %s",
			    rk_bytes_str(&names) ? rk_bytes_str(&names) : "any driver");
	} else if (collector) {
		rk_look_say(l, "opencl", RK_DOCTOR_INFO, "OpenCL", "no driver is installed");
		rk_look_advise(l, "sudo apt install pocl-opencl-icd runs it on the CPU");
	} else {
		rk_look_say(l, "opencl", RK_DOCTOR_INFO, "OpenCL",
			    "this rockit has no librockit-opencl.so");
		rk_look_advise(l, "install opencl-headers and build it again");
	}
	rk_bytes_release(&path);
	rk_bytes_release(&names);
}
