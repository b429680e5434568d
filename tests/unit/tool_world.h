/* tool_world.h - a wish and the command that a tool makes of it, as text. */
#ifndef RK_TOOL_WORLD_H
#define RK_TOOL_WORLD_H

#include <string.h>

#include "base/bytes.h"
#include "tap.h"
#include "tool/tool.h"

struct wish {
	struct rk_list counters, extra, app;
	struct rk_want want;
	struct rk_tool_command cmd;
	struct rk_error err;
	struct rk_bytes text;
};

static inline void wish_open(struct wish *w, unsigned traces)
{
	*w = (struct wish){ 0 };
	rk_bytes_init(&w->text, 1 << 20);
	rk_list_add(&w->app, "./app");
	rk_list_add(&w->app, "-n");
	rk_list_add(&w->app, "4 2");
	w->want = (struct rk_want){ .traces = traces,
				    .arch = "",
				    .dir = "/out",
				    .counters = &w->counters,
				    .extra = &w->extra,
				    .app = &w->app };
}

static inline void wish_close(struct wish *w)
{
	rk_tool_command_release(&w->cmd);
	rk_list_release(&w->counters);
	rk_list_release(&w->extra);
	rk_list_release(&w->app);
	rk_bytes_release(&w->text);
}

static inline const char *wish_join(struct wish *w, const struct rk_list *l, const char *between)
{
	rk_bytes_clear(&w->text);
	for (size_t i = 0; i < l->n; i++)
		rk_bytes_printf(&w->text, "%s%s", i ? between : "", l->v[i]);
	return rk_bytes_str(&w->text);
}

/* The words with blanks between them, or the error's message. */
static inline const char *wish_told(struct wish *w, const char *tool, const char *version)
{
	struct rk_version v = { 0, 0, 0 };

	rk_version_parse(version, &v);
	rk_tool_command_release(&w->cmd);
	w->err = (struct rk_error){ 0 };
	if (rk_tool_find(tool)->command(tool, v, &w->want, &w->cmd, &w->err) < 0)
		return w->err.message;
	return wish_join(w, &w->cmd.argv, " ");
}

static inline const char *wish_notes(struct wish *w)
{
	return wish_join(w, &w->cmd.notes, "\n");
}

#endif
