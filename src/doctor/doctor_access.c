/* doctor_access.c - whether this user may use the GPU's devices, and if not, who could. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "doctor/doctor_impl.h"

enum { NAME_BYTES = 64, LINE_BYTES = 128, NOBODY = 65534 };

static uint64_t number(const char *s, size_t len, uint64_t otherwise)
{
	uint64_t v;

	return rk_num_u64(s, len, &v) == RK_NUM_OK ? v : otherwise;
}

static void add_group(struct rk_look_user *u, uint64_t gid)
{
	if (u->ngroups < RK_LOOK_MAX_GROUPS)
		u->groups[u->ngroups++] = gid;
}

/* The second number of "Uid:" and "Gid:" is the effective one. */
static uint64_t effective(const char *status, const char *key, uint64_t otherwise)
{
	char line[LINE_BYTES];
	const char *p = line;

	rk_sysfs_value(status, key, ':', line, sizeof(line));
	p += strcspn(p, " \t");
	p += strspn(p, " \t");
	return number(p, strcspn(p, " \t"), otherwise);
}

/* All numbers of the line "Groups:", however long it is. */
static void add_groups(struct rk_look_user *u, const char *status)
{
	const char *p = strstr(status, "\nGroups:");

	if (!p)
		return;
	for (p += strlen("\nGroups:"); *p && *p != '\n';) {
		size_t len;

		p += strspn(p, " \t");
		len = strcspn(p, " \t\n");
		if (len)
			add_group(u, number(p, len, UINT64_MAX));
		p += len;
	}
}

/*
 * A field of a line of /etc/passwd or /etc/group, "a:b:c:d", whose third field is `id`, into
 * `out`; false when no line has that id.
 */
static bool field_by_id(struct rk_look *l, const char *file, uint64_t id, unsigned field, char *out,
			size_t size)
{
	struct rk_bytes bytes;
	const char *text = rk_look_read(l, file, &bytes);
	bool found = false;

	for (const char *line = text; line && *line && !found;) {
		const char *f[4] = { line, "", "", "" };
		size_t end = strcspn(line, "\n"), len;

		for (unsigned i = 1; i < 4; i++) {
			const char *colon = memchr(f[i - 1], ':', (size_t)(line + end - f[i - 1]));

			if (!colon)
				break;
			f[i] = colon + 1;
		}
		found = f[3][0] && number(f[2], strcspn(f[2], ":\n"), UINT64_MAX) == id;
		if (found) {
			len = strcspn(f[field], field < 3 ? ":\n" : "\n");
			snprintf(out, size, "%.*s", (int)(len < size ? len : size), f[field]);
		}
		line += end + (line[end] == '\n');
	}
	rk_bytes_release(&bytes);
	return found;
}

/* From files rather than from the C library: the same answer in a test, and no network. */
void rk_look_identify(struct rk_look *l)
{
	struct rk_look_user *u = &l->user;
	struct rk_bytes bytes;
	const char *status = rk_look_read(l, "/proc/self/status", &bytes);
	const char *name = rk_look_env(l, "USER");

	u->uid = effective(status ? status : "", "Uid", geteuid());
	add_group(u, effective(status ? status : "", "Gid", getegid()));
	add_groups(u, status ? status : "");
	rk_bytes_release(&bytes);
	if (!field_by_id(l, "/etc/passwd", u->uid, 0, u->name, sizeof(u->name)) && name)
		snprintf(u->name, sizeof(u->name), "%s", name);
}

struct device {
	char shown[NAME_BYTES]; /* "/dev/kfd" */
	enum rk_look_access access;
	uint64_t gid;
	unsigned mode;
	bool in_group; /* of this session */
};

static bool session_has(const struct rk_look_user *u, uint64_t gid)
{
	for (size_t i = 0; i < u->ngroups; i++)
		if (u->groups[i] == gid)
			return true;
	return false;
}

/*
 * By owner, group and mode alone under a root of tests; on a real machine the kernel is asked,
 * which also knows about access lists. Nothing is opened: that would wake a sleeping GPU.
 */
static bool may_use(const struct rk_look *l, const char *full, const struct stat *st)
{
	const struct rk_look_user *u = &l->user;

	if (!l->root[0])
		return faccessat(AT_FDCWD, full, R_OK | W_OK, AT_EACCESS) == 0;
	if (u->uid == 0)
		return true;
	if (u->uid == st->st_uid)
		return (st->st_mode & 0600) == 0600;
	if (session_has(u, st->st_gid))
		return (st->st_mode & 0060) == 0060;
	return (st->st_mode & 0006) == 0006;
}

static void inspect(const struct rk_look *l, struct device *dev)
{
	char full[RK_SYSFS_PATH];
	struct stat st;

	dev->access = RK_LOOK_MISSING;
	rk_sysfs_path(full, l->root, "%s", dev->shown);
	if (stat(full, &st) < 0)
		return;
	dev->gid = st.st_gid;
	dev->mode = st.st_mode & 0777;
	dev->in_group = session_has(&l->user, st.st_gid);
	dev->access = may_use(l, full, &st) ? RK_LOOK_ALLOWED : RK_LOOK_DENIED;
}

enum rk_look_access rk_look_device(const struct rk_look *l, const char *path)
{
	struct device dev;

	snprintf(dev.shown, sizeof(dev.shown), "%s", path);
	inspect(l, &dev);
	return dev.access;
}

static bool lists_user(const char *members, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = members; len && *p; p += strspn(p, ",")) {
		size_t n = strcspn(p, ",");

		if (n == len && memcmp(p, name, len) == 0)
			return true;
		p += n;
	}
	return false;
}

/* Which of the ways to get at the device is the right one. */
static void advise_access(struct rk_look *l, const struct device *dev, const char *group)
{
	char members[4096] = "";
	const char *user = l->user.name[0] ? l->user.name : "$USER";

	field_by_id(l, "/etc/group", dev->gid, 3, members, sizeof(members));
	if ((dev->mode & 0060) != 0060 || dev->in_group)
		rk_look_advise(l,
			       "ask the administrator for a udev rule that gives the device to a "
			       "group, with mode 0660 (ROCm's packages bring one)");
	else if (l->container && l->container->group && dev->gid == NOBODY)
		rk_look_advise(l, "%s of the group that owns the device on the host",
			       l->container->group);
	else if (l->container && l->container->group)
		rk_look_advise(l, "%s %" PRIu64, l->container->group, dev->gid);
	else if (lists_user(members, user))
		rk_look_advise(l,
			       "log in again: '%s' was added to group '%s' after this session "
			       "began",
			       user, group);
	else
		rk_look_advise(l, "sudo usermod -aG %s %s, then log in again", group, user);
}

static void say_denied(struct rk_look *l, const char *id, const struct device *dev)
{
	char group[NAME_BYTES];

	if (!field_by_id(l, "/etc/group", dev->gid, 0, group, sizeof(group)))
		snprintf(group, sizeof(group), "%" PRIu64, dev->gid);
	rk_look_say(l, id, RK_DOCTOR_BAD, dev->shown,
		    "%s%s%s may not read and write %s: it belongs to group '%s' with mode %04o",
		    l->user.name[0] ? "user '" : "this user", l->user.name,
		    l->user.name[0] ? "'" : "", dev->shown, group, dev->mode);
	advise_access(l, dev, group);
}

static void look_at_kfd(struct rk_look *l)
{
	struct device dev = { .shown = "/dev/kfd" };

	inspect(l, &dev);
	if (dev.access == RK_LOOK_ALLOWED) {
		rk_look_say(l, "kfd", RK_DOCTOR_OK, "/dev/kfd", "/dev/kfd can be read and written");
	} else if (dev.access == RK_LOOK_DENIED) {
		say_denied(l, "kfd", &dev);
	} else {
		rk_look_say(l, "kfd", RK_DOCTOR_BAD, "/dev/kfd",
			    "/dev/kfd does not exist: no program can compute on the GPU");
		rk_look_advise(l, "%s",
			       l->container ? l->container->devices :
					      "load amdgpu with compute support: the kernel needs "
					      "CONFIG_HSA_AMD, or the package amdgpu-dkms");
	}
}

static void say_missing(struct rk_look *l, const char *first, size_t missing, size_t all)
{
	rk_look_say(l, "render-nodes", missing == all ? RK_DOCTOR_BAD : RK_DOCTOR_WARN,
		    "render nodes", "%zu of %zu GPUs have no render node here: '%s' does not exist",
		    missing, all, first);
	if (l->container)
		rk_look_advise(l, "%s", l->container->devices);
}

/* One check for all of them; the first that is wrong stands for its like. */
static void look_at_render_nodes(struct rk_look *l)
{
	struct device dev, missing = { .shown = "" }, denied = { .shown = "" };
	size_t nodes = 0, nmissing = 0, ndenied = 0;
	const struct rk_gpu *gpu;

	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++) {
		if (gpu->render < 0)
			continue;
		nodes++;
		snprintf(dev.shown, sizeof(dev.shown), "/dev/dri/renderD%d", gpu->render);
		inspect(l, &dev);
		if (dev.access == RK_LOOK_MISSING && nmissing++ == 0)
			missing = dev;
		if (dev.access == RK_LOOK_DENIED && ndenied++ == 0)
			denied = dev;
	}
	if (nmissing)
		say_missing(l, missing.shown, nmissing, nodes);
	if (ndenied)
		say_denied(l, "render-nodes", &denied);
	if (nodes && !nmissing && !ndenied)
		rk_look_say(l, "render-nodes", RK_DOCTOR_OK, "render nodes",
			    "%zu of %zu can be read and written", nodes, nodes);
}

void rk_look_access(struct rk_look *l)
{
	bool driver = rk_look_exists(l, "/sys/module/amdgpu");

	/* Without the driver there are no devices, and the driver is the thing to mend. */
	if (!driver || !rk_look_count(l, "AMD"))
		return;
	look_at_kfd(l);
	look_at_render_nodes(l);
}
