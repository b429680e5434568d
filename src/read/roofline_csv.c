/* roofline_csv.c - rocprof-compute's roofline.csv: what its benchmark measured, a row a device. */
#include "read/samples/samples.h"

#include "base/text.h"

extern const struct rk_reader_ops rk_reader_roofline_csv;

static bool has(struct rk_csv_span name, const char *part)
{
	for (size_t i = 0; i < name.len; i++)
		if (rk_text_iprefix(name.p + i, name.len - i, part))
			return true;
	return false;
}

static const char *unit_of(struct rk_csv_span name)
{
	if (has(name, "Flops"))
		return "GFLOP/s";
	if (has(name, "Ops"))
		return "GOP/s";
	return has(name, "Bw") ? "GB/s" : NULL;
}

/* Names stay as they are written, "hbmBwHigh" and "MFMAFI8OpsLow" too: metrics go by them. */
static void classify(const struct rk_samples_header *h, unsigned col, struct rk_sample_column *ret)
{
	struct rk_csv_span name = h->names[col];

	*ret = (struct rk_sample_column){ .device = -1, .scale = 1, .own = name };
	ret->role = rk_text_ieq(name.p, name.len, "device") ? RK_SAMPLE_DEVICE : RK_SAMPLE_VALUE;
	ret->unit = unit_of(name);
}

static int roofline_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	struct rk_samples_header h;
	bool yes;
	int rc = rk_samples_header_parse(head, len, &h, NULL);

	(void)whole;
	(void)file_name;
	if (rc < 0)
		return rc;
	yes = rk_samples_header_find(&h, "device") >= 0 && rk_samples_header_find(&h, "HBMBw") >= 0;
	rk_samples_header_release(&h);
	return yes ? 90 : 0;
}

static int roofline_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
			 struct rk_error *err)
{
	return rk_samples_open(in, ctx, &rk_reader_roofline_csv, classify, ret, err);
}

const struct rk_reader_ops rk_reader_roofline_csv = {
	.name = "roofline-csv",
	.help = "roofline.csv of rocprof-compute and omniperf",
	.probe = roofline_probe,
	.open = roofline_open,
	.scan = rk_samples_scan,
	.close = rk_samples_close,
	.serial = true,
};
