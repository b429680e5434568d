/* fuzz_context.c - any bytes as a context of madengine, and as the JSON of a preset. */
#include <stdio.h>
#include <string.h>

#include "rockit/preset.h"
#include "session/preset_draft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look(const struct rk_preset *p)
{
	struct rk_error err = { 0 };

	for (int format = RK_REPORT_TEXT; format <= RK_REPORT_CSV; format++) {
		char *text = NULL;
		size_t text_len = 0;

		if (rk_presets_render(&p, 1, true, (enum rk_report_format)format, &text, &text_len,
				      &err) == 0)
			rk_text_free(text);
	}
}

static void as_preset(const char *text, size_t len)
{
	struct rk_preset *p = NULL;
	struct rk_tree *root = NULL;
	struct rk_draft *d = NULL;
	struct rk_error err = { 0 };

	if (rk_tree_parse_json(text, len, "fuzz", &root, &err) < 0)
		return;
	if (rk_draft_new(NULL, &d, &err) == 0) {
		if (rk_draft_parse(d, root, "fuzz", &err) < 0)
			rk_draft_free(d);
		else if (rk_draft_seal(d, &p, &err) == 0)
			look(p);
	}
	rk_preset_free(p);
	rk_tree_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rk_preset *p = NULL;
	struct rk_error err = { 0 };

	if (rk_preset_from_context(NULL, (const char *)data, len, "fuzz", &p, &err) == 0)
		look(p);
	rk_preset_free(p);
	as_preset((const char *)data, len);
	return 0;
}
