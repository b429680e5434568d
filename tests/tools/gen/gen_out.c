/* gen_out.c - text out, and the row of a kernel trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen_out.h"

_Noreturn void gen_die(const char *what, const char *path)
{
	fprintf(stderr, "gen-trace: %s '%s': %s\n", what, path, strerror(errno));
	exit(EXIT_FAILURE);
}

static void flush(struct gen_out *o)
{
	if (fwrite(o->buf, 1, o->len, o->f) != o->len)
		gen_die("cannot write", o->path);
	o->len = 0;
}

struct gen_out *gen_out_open(const char *path)
{
	struct gen_out *o = malloc(sizeof(*o));

	if (!o)
		gen_die("cannot open", path);
	o->f = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
	o->path = path;
	o->len = 0;
	if (!o->f)
		gen_die("cannot open", path);
	return o;
}

void gen_out_close(struct gen_out *o)
{
	flush(o);
	if (fflush(o->f) != 0 || (o->f != stdout && fclose(o->f) != 0))
		gen_die("cannot write", o->path);
	free(o);
}

void gen_put(struct gen_out *o, const char *text)
{
	size_t len = strlen(text);

	if (o->len + len > GEN_OUT_BYTES)
		flush(o);
	memcpy(o->buf + o->len, text, len);
	o->len += len;
}

void gen_put_u64(struct gen_out *o, uint64_t v)
{
	char digits[20];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		o->buf[o->len++] = digits[--n];
	if (o->len >= GEN_OUT_BYTES)
		flush(o);
}

void gen_cell(struct gen_out *o, const char *text)
{
	gen_put(o, "\"");
	gen_put(o, text);
	gen_put(o, "\",");
}

void gen_cell_u64(struct gen_out *o, uint64_t v)
{
	gen_put_u64(o, v);
	o->buf[o->len++] = ',';
}

void gen_last_u64(struct gen_out *o, uint64_t v)
{
	gen_put_u64(o, v);
	o->buf[o->len++] = '\n';
}

void gen_kernel_header(struct gen_out *o)
{
	gen_put(o, "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
		   "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
		   "\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
		   "\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
		   "\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n");
}

void gen_kernel_row(struct gen_out *o, const struct gen_event *e)
{
	const struct gen_kernel *k = &gen_kernels[e->kernel];

	gen_put(o, "\"KERNEL_DISPATCH\",\"Agent ");
	gen_put_u64(o, e->agent);
	gen_put(o, "\",");
	gen_cell_u64(o, e->queue);
	gen_cell_u64(o, e->stream);
	gen_cell_u64(o, e->tid);
	gen_cell_u64(o, e->dispatch_id);
	gen_cell_u64(o, e->kernel + 1);
	gen_cell(o, k->name);
	gen_cell_u64(o, e->correlation_id);
	gen_cell_u64(o, (uint64_t)e->start_ns);
	gen_cell_u64(o, (uint64_t)e->end_ns);
	gen_cell_u64(o, k->lds);
	gen_cell_u64(o, k->scratch);
	gen_cell_u64(o, k->vgpr);
	gen_cell_u64(o, k->accum_vgpr);
	gen_cell_u64(o, k->sgpr);
	for (int i = 0; i < 3; i++)
		gen_cell_u64(o, k->block[i]);
	gen_cell_u64(o, e->grid[0]);
	gen_cell_u64(o, e->grid[1]);
	gen_last_u64(o, e->grid[2]);
}
