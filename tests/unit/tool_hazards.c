/* tool_hazards.c - what is known to go wrong, by tool, release and chip. */
#include <string.h>

#include "tap.h"
#include "tool/tool.h"

static bool warned(const char *tool, const char *version, const char *arch, const char *part)
{
	struct rk_version v = { 0, 0, 0 };
	const struct rk_hazard *h;
	bool found = false;

	rk_version_parse(version, &v);
	for (size_t at = 0; (h = rk_hazards_next(tool, v, arch, &at)) != NULL;)
		found = found || strstr(h->text, part) != NULL;
	return found;
}

TEST(a_hazard_applies_to_its_releases_only)
{
	CHECK(!warned("rocprofv3", "6.2.4", "", "numpy"));
	CHECK(warned("rocprofv3", "6.3", "", "numpy"));
	CHECK(warned("rocprofv3", "6.3.3", "", "numpy"));
	CHECK(!warned("rocprofv3", "6.4", "", "numpy"));
	CHECK(!warned("rocprofv3", "", "", "numpy"));
	CHECK(warned("rocprofv3", "7.0.2", "", "semicolon"));
	CHECK(!warned("rocprofv3", "7.13", "", "semicolon"));
	CHECK(warned("rocprof", "7.2.1", "", "HIP graphs"));
	CHECK(!warned("rocprof", "7.2.2", "", "HIP graphs"));
}

TEST(a_hazard_applies_to_its_chips_only)
{
	CHECK(warned("rocprofv3", "7.0", "gfx1100", "read zero"));
	CHECK(!warned("rocprofv3", "7.0", "gfx942", "read zero"));
	CHECK(!warned("rocprofv3", "7.0", "", "read zero"));
	CHECK(!warned("rocprofv3", "7.0", NULL, "read zero"));
	CHECK(warned("rocprof", "6.2", "gfx1201", "does not support this chip"));
	CHECK(!warned("rocprof", "6.2", "gfx90a", "does not support this chip"));
	CHECK(warned("rocprofv3", "", "gfx942", "SIGKILL"));
}

TEST(every_tool_has_hazards_and_strangers_have_none)
{
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
		CHECK((*t)->library || warned((*t)->name, "", "", ""));
	CHECK(!warned("nsys", "", "", ""));
}
