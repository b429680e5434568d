/*
 * columns.c - the meaning of columns in sampler files: files of madengine and rockit, with one
 * column per GPU; files of amd-smi, rocm-smi, nvidia-smi and scripts around them, with one row per
 * GPU; and rocprof-compute's roofline.csv.
 */
#include "read/samples/samples.h"

#include <string.h>

#include "base/num.h"
#include "base/text.h"

#define MIB 1048576.0

/*
 * Columns that provide a standard metric. If a file has several columns for one metric, the first
 * one with a value in the row is used: MI300 has no edge temperature, so the junction temperature
 * replaces it. The others keep their own names. amd-smi counts memory in units of 2^20 and calls
 * them MB, and so does rockit's own sampler.
 */
struct known {
	const char *name, *metric, *unit;
	double scale;
};
static const struct known known[] = {
	{ "Power(Watt)", "power_w", "W", 1 },
	{ "vram_used(MB)", "vram_used_bytes", "B", MIB },
	{ "vram_total(MB)", "vram_total_bytes", "B", MIB },
	{ "vram(%)", "vram_percent", "%", 1 },
	{ "energy(J)", "energy_j", "J", 1 },
	{ "busy(%)", "busy_percent", "%", 1 },
	{ "sclk(MHz)", "sclk_mhz", "MHz", 1 },
	{ "mclk(MHz)", "mclk_mhz", "MHz", 1 },
	{ "temp(C)", "temp_c", "C", 1 },
	{ "power_watts", "power_w", "W", 1 },
	{ "power_w", "power_w", "W", 1 },
	{ "socket_power", "power_w", "W", 1 },
	{ "current_socket_power", "power_w", "W", 1 },
	{ "average_socket_power", "power_w", "W", 1 },
	{ "power_usage", "power_w", "W", 1 },
	{ "Current Socket Graphics Package Power (W)", "power_w", "W", 1 },
	{ "Average Graphics Package Power (W)", "power_w", "W", 1 },
	{ "total_energy_consumption", "energy_j", "J", 1 },
	{ "vram_used_bytes", "vram_used_bytes", "B", 1 },
	{ "vram_total_bytes", "vram_total_bytes", "B", 1 },
	{ "VRAM Total Used Memory (B)", "vram_used_bytes", "B", 1 },
	{ "VRAM Total Memory (B)", "vram_total_bytes", "B", 1 },
	{ "used_vram", "vram_used_bytes", "B", MIB },
	{ "total_vram", "vram_total_bytes", "B", MIB },
	{ "vram_used", "vram_used_bytes", "B", MIB },
	{ "vram_total", "vram_total_bytes", "B", MIB },
	{ "gpu_use_percent", "busy_percent", "%", 1 },
	{ "GPU use (%)", "busy_percent", "%", 1 },
	{ "busy_percent", "busy_percent", "%", 1 },
	{ "gfx_activity", "busy_percent", "%", 1 },
	{ "gfx_0_clk", "sclk_mhz", "MHz", 1 },
	{ "sclk clock speed:", "sclk_mhz", "MHz", 1 },
	{ "sclk_mhz", "sclk_mhz", "MHz", 1 },
	{ "mem_0_clk", "mclk_mhz", "MHz", 1 },
	{ "mclk clock speed:", "mclk_mhz", "MHz", 1 },
	{ "mclk_mhz", "mclk_mhz", "MHz", 1 },
	{ "edge", "temp_c", "C", 1 },
	{ "temp_c", "temp_c", "C", 1 },
	{ "temp_edge_celsius", "temp_c", "C", 1 },
	{ "Temperature (Sensor edge) (C)", "temp_c", "C", 1 },
	{ "hotspot", "temp_c", "C", 1 },
	{ "temp_junction_celsius", "temp_c", "C", 1 },
	{ "Temperature (Sensor junction) (C)", "temp_c", "C", 1 },
	/* nvidia-smi --query-gpu; some names changed with the driver */
	{ "power.draw [W]", "power_w", "W", 1 },
	{ "power.draw.average [W]", "power_w", "W", 1 },
	{ "power.draw.instant [W]", "power_w", "W", 1 },
	{ "memory.used [MiB]", "vram_used_bytes", "B", MIB },
	{ "memory.total [MiB]", "vram_total_bytes", "B", MIB },
	{ "utilization.gpu [%]", "busy_percent", "%", 1 },
	{ "clocks.current.sm [MHz]", "sclk_mhz", "MHz", 1 },
	{ "clocks.sm [MHz]", "sclk_mhz", "MHz", 1 },
	{ "clocks.current.graphics [MHz]", "sclk_mhz", "MHz", 1 },
	{ "clocks.gr [MHz]", "sclk_mhz", "MHz", 1 },
	{ "clocks.current.memory [MHz]", "mclk_mhz", "MHz", 1 },
	{ "clocks.mem [MHz]", "mclk_mhz", "MHz", 1 },
	{ "temperature.gpu", "temp_c", "C", 1 },
	{ "temperature.gpu [C]", "temp_c", "C", 1 },
};

/* nvidia-smi dmon: the second line has the units, which do not change. */
static const struct known dmon[] = {
	{ "pwr", "power_w", "W", 1 },     { "gtemp", "temp_c", "C", 1 },
	{ "mtemp", NULL, "C", 1 },        { "sm", "busy_percent", "%", 1 },
	{ "mem", NULL, "%", 1 },          { "enc", NULL, "%", 1 },
	{ "dec", NULL, "%", 1 },          { "jpg", NULL, "%", 1 },
	{ "ofa", NULL, "%", 1 },          { "mclk", "mclk_mhz", "MHz", 1 },
	{ "pclk", "sclk_mhz", "MHz", 1 }, { "fb", "vram_used_bytes", "B", MIB },
	{ "bar1", NULL, "MiB", 1 },       { "ccpm", NULL, "MiB", 1 },
	{ "rxpci", NULL, "MB/s", 1 },     { "txpci", NULL, "MB/s", 1 },
};

/* Units of other columns, by the end of their names. */
static const struct {
	const char *ending, *unit;
} units[] = {
	{ "_clk", "MHz" },       { "_activity", "%" }, { "_percent", "%" }, { "(%)", "%" },
	{ "_watts", "W" },       { "(W)", "W" },       { "_power", "W" },   { "_voltage", "mV" },
	{ "_celsius", "C" },     { "(C)", "C" },       { "_bytes", "B" },   { "(B)", "B" },
	{ "_temperature", "C" }, { "(MHz)", "MHz" },   { "[MiB]", "MiB" },  { "[%]", "%" },
	{ "[W]", "W" },          { "[MHz]", "MHz" },   { ".memory", "C" },  { ".tlimit", "C" },
};

/* Splits "Power(Watt) GPU12" into the device and the name "Power(Watt)". */
static bool take_gpu(struct rk_csv_span *name, int64_t *device)
{
	size_t n = name->len;

	while (n && name->p[n - 1] >= '0' && name->p[n - 1] <= '9')
		n--;
	if (n == name->len || n < 5 || memcmp(name->p + n - 3, "GPU", 3) != 0 ||
	    rk_num_i64(name->p + n, name->len - n, device) != RK_NUM_OK)
		return false;
	*name = rk_csv_trim(name->p, n - 3);
	return name->len && name->p[name->len - 1] == ')';
}

/* Columns of nvidia-smi that are numbers although the header gives no unit. */
static bool is_nvidia_number(struct rk_csv_span name)
{
	static const char *const starts[] = { "temperature.", "pcie.link.", "encoder.stats.",
					      "fbc.stats.", "ecc.errors." };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (rk_text_iprefix(name.p, name.len, starts[i]))
			return true;
	return name.len && name.p[name.len - 1] == ']';
}

static void classify_dmon(struct rk_csv_span name, struct rk_sample_column *ret)
{
	ret->role = RK_SAMPLE_VALUE;
	ret->own = name;
	if (rk_text_ieq(name.p, name.len, "gpu"))
		ret->role = RK_SAMPLE_DEVICE;
	else if (rk_text_ieq(name.p, name.len, "Date"))
		ret->role = RK_SAMPLE_DATE;
	else if (rk_text_ieq(name.p, name.len, "Time"))
		ret->role = RK_SAMPLE_CLOCK;
	for (size_t i = 0; i < sizeof(dmon) / sizeof(dmon[0]); i++)
		if (rk_text_ieq(name.p, name.len, dmon[i].name)) {
			ret->metric = dmon[i].metric;
			ret->unit = dmon[i].unit;
			ret->scale = dmon[i].scale;
		}
}

static void classify(const struct rk_samples_header *h, unsigned col, struct rk_sample_column *ret)
{
	const size_t nknown = sizeof(known) / sizeof(known[0]);
	struct rk_csv_span name = h->names[col];
	size_t i = 0;

	*ret = (struct rk_sample_column){ .device = -1, .scale = 1 };
	if (h->dmon) {
		classify_dmon(name, ret);
		return;
	}
	if (rk_text_ieq(name.p, name.len, "timestamp_ns"))
		ret->role = RK_SAMPLE_NS;
	else if (rk_text_ieq(name.p, name.len, "timestamp") ||
		 rk_text_ieq(name.p, name.len, "time"))
		ret->role = h->has_ns ? RK_SAMPLE_SKIP : RK_SAMPLE_WHEN;
	else if (rk_text_ieq(name.p, name.len, "device") || rk_text_ieq(name.p, name.len, "gpu") ||
		 (h->nvidia && rk_text_ieq(name.p, name.len, "index")))
		ret->role = RK_SAMPLE_DEVICE;
	else if (h->nvidia && !is_nvidia_number(name))
		ret->role = RK_SAMPLE_SKIP; /* names, states, masks */
	else
		ret->role = RK_SAMPLE_VALUE;
	if (ret->role != RK_SAMPLE_VALUE)
		return;
	ret->watts = take_gpu(&name, &ret->device) && !h->has_ns && name.p[0] == 'P';
	ret->own = name;
	for (size_t u = 0; !ret->unit && u < sizeof(units) / sizeof(units[0]); u++)
		if (rk_text_ends(name.p, name.len, units[u].ending))
			ret->unit = units[u].unit;
	/* amd-smi's `mem` is a temperature if there is a `hotspot` column, otherwise a load */
	if (rk_text_ieq(name.p, name.len, "mem"))
		ret->unit = rk_samples_header_find(h, "hotspot") >= 0 ? "C" : NULL;

	while (i < nknown && !rk_text_ieq(name.p, name.len, known[i].name))
		i++;
	if (i == nknown)
		return;
	/* if there is also a load in percent, gfx_activity is an ever-increasing count */
	if (!strcmp(known[i].name, "gfx_activity") &&
	    rk_samples_header_find(h, "gpu_use_percent") >= 0) {
		ret->unit = NULL;
		return;
	}
	ret->metric = known[i].metric;
	ret->unit = known[i].unit;
	ret->scale = known[i].scale;
}

/*
 * True if every column is a time or a value whose name includes the GPU, or if there is a device
 * column.
 */
static bool is_samples(const struct rk_samples_header *h)
{
	struct rk_sample_column c;
	unsigned devices = 0, named = 0, standard = 0, values = 0;

	for (unsigned i = 0; i < h->ncols; i++) {
		classify(h, i, &c);
		devices += c.role == RK_SAMPLE_DEVICE;
		values += c.role == RK_SAMPLE_VALUE;
		named += c.role == RK_SAMPLE_VALUE && c.device >= 0;
		standard += c.role == RK_SAMPLE_VALUE && c.metric;
	}
	if (named)
		return standard && named == values && !devices;
	if (h->nvidia) /* without an index the file is about one GPU */
		return standard && devices <= 1;
	return standard && devices == 1;
}

static const struct rk_samples_format samples = { is_samples, classify };

const struct rk_reader_ops rk_reader_samples_csv = {
	.name = "samples-csv",
	.help = "power, VRAM and temperature samples: rockit, madengine, amd-smi, rocm-smi, nvidia-smi",
	.probe = rk_samples_probe,
	.open = rk_samples_open,
	.scan = rk_samples_scan,
	.close = rk_samples_close,
	.format = &samples,
	.serial = true,
};

/* ---- roofline.csv: results of rocprof-compute's benchmark, one row per device ---- */

static bool has(struct rk_csv_span name, const char *part)
{
	for (size_t i = 0; i < name.len; i++)
		if (rk_text_iprefix(name.p + i, name.len - i, part))
			return true;
	return false;
}

/* Names are kept as written, even "hbmBwHigh" and "MFMAFI8OpsLow": metrics refer to them. */
static void classify_roofline(const struct rk_samples_header *h, unsigned col,
			      struct rk_sample_column *ret)
{
	struct rk_csv_span name = h->names[col];

	*ret = (struct rk_sample_column){ .device = -1, .scale = 1, .own = name };
	ret->role = rk_text_ieq(name.p, name.len, "device") ? RK_SAMPLE_DEVICE : RK_SAMPLE_VALUE;
	if (has(name, "Flops"))
		ret->unit = "GFLOP/s";
	else if (has(name, "Ops"))
		ret->unit = "GOP/s";
	else if (has(name, "Bw"))
		ret->unit = "GB/s";
}

static bool is_roofline(const struct rk_samples_header *h)
{
	return rk_samples_header_find(h, "device") >= 0 && rk_samples_header_find(h, "HBMBw") >= 0;
}

static const struct rk_samples_format roofline = { is_roofline, classify_roofline };

const struct rk_reader_ops rk_reader_roofline_csv = {
	.name = "roofline-csv",
	.help = "roofline.csv of rocprof-compute and omniperf",
	.probe = rk_samples_probe,
	.open = rk_samples_open,
	.scan = rk_samples_scan,
	.close = rk_samples_close,
	.format = &roofline,
	.serial = true,
};
