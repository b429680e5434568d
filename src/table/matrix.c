/*
 * matrix.c - counter values by dispatch, on disk.
 *
 * The file has room for all rows and begins as one hole that reads as zeros. A value is stored
 * XORed with the bits of one particular NaN, so that a zero reads back as that NaN: values that
 * were never written are missing.
 */
#include "table/matrix.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "io/file.h"

enum { MAX_PROCESSES = 1024, BLOCKS = 32, BLOCK_BYTES = 32 << 10, SLACK_ROWS = 1 << 20 };

#define MISSING_BITS UINT64_C(0x7ff8726f636b6974)

struct process {
	int64_t pid, first, last; /* dispatch ids */
	uint64_t noted;
	uint64_t offset; /* of the first row in the file */
};

struct block {
	uint64_t number; /* index of the block in the file; UINT64_MAX: none */
	bool dirty;
	uint8_t *data;
};

struct rk_matrix {
	struct rk_spill *spill;
	unsigned ncols;
	size_t row_bytes, rows_per_block;
	struct process *processes;
	unsigned nprocesses, last_process;
	struct block blocks[BLOCKS];
	double *row; /* decoded */
	uint64_t *tally;
};

static struct process *process_of(struct rk_matrix *m, int64_t pid)
{
	if (m->nprocesses && m->processes[m->last_process].pid == pid)
		return &m->processes[m->last_process];
	for (unsigned i = 0; i < m->nprocesses; i++) {
		if (m->processes[i].pid == pid) {
			m->last_process = i;
			return &m->processes[i];
		}
	}
	return NULL;
}

int rk_matrix_note(struct rk_matrix *m, int64_t pid, int64_t dispatch, struct rk_error *err)
{
	struct process *p = process_of(m, pid);

	if (!p) {
		if (m->nprocesses == MAX_PROCESSES)
			return rk_fail(err, RK_E_LIMIT, "more than %d processes", MAX_PROCESSES);
		p = &m->processes[m->nprocesses++];
		*p = (struct process){ .pid = pid, .first = dispatch, .last = dispatch };
	}
	p->first = rk_min_i64(p->first, dispatch);
	p->last = rk_max_i64(p->last, dispatch);
	p->noted++;
	return 0;
}

int rk_matrix_layout(struct rk_matrix *m, struct rk_error *err)
{
	uint64_t offset = 0;

	for (unsigned i = 0; i < m->nprocesses; i++) {
		struct process *p = &m->processes[i];
		uint64_t rows = (uint64_t)p->last - (uint64_t)p->first + 1;
		uint64_t blocks = (rows + m->rows_per_block - 1) / m->rows_per_block;

		/* rows is 0 if the ids span all of int64 */
		if (!rows || rows > p->noted * 16 + SLACK_ROWS)
			return rk_fail(err, RK_E_LIMIT, "dispatch ids are spread too widely");
		p->offset = offset;
		offset += blocks * BLOCK_BYTES;
	}
	return rk_spill_resize(m->spill, offset, err);
}

/* 1: *ret points to the stored bytes of the row, in *block; 0: no such row. */
static int stored_row(struct rk_matrix *m, const struct process *p, int64_t dispatch,
		      struct block **block, uint8_t **ret, struct rk_error *err)
{
	uint64_t row = (uint64_t)dispatch - (uint64_t)p->first;
	uint64_t number = p->offset / BLOCK_BYTES + row / m->rows_per_block;
	struct block *b = &m->blocks[number % BLOCKS];
	uint64_t old = b->number;
	int rc;

	if (dispatch < p->first || dispatch > p->last)
		return 0;
	if (old != number) {
		b->number = UINT64_MAX;
		if (b->dirty) {
			b->dirty = false;
			rc = rk_spill_write(m->spill, old * BLOCK_BYTES, b->data, BLOCK_BYTES, err);
			if (rc < 0)
				return rc;
		}
		rc = rk_spill_read(m->spill, number * BLOCK_BYTES, b->data, BLOCK_BYTES, err);
		if (rc < 0)
			return rc;
		b->number = number;
	}
	*block = b;
	*ret = b->data + row % m->rows_per_block * m->row_bytes;
	return 1;
}

int rk_matrix_put(struct rk_matrix *m, int64_t pid, int64_t dispatch, unsigned col, double value,
		  struct rk_error *err)
{
	const struct process *p = process_of(m, pid);
	struct block *b;
	uint8_t *row;
	uint64_t bits;
	int rc = p ? stored_row(m, p, dispatch, &b, &row, err) : 0;

	if (rc <= 0)
		return rc;
	memcpy(&bits, &value, 8);
	bits ^= MISSING_BITS;
	memcpy(row + col * 8, &bits, 8);
	b->dirty = true;
	return 0;
}

static double value_at(const uint8_t *row, unsigned col)
{
	uint64_t bits;
	double value;

	memcpy(&bits, row + (size_t)col * 8, 8);
	bits ^= MISSING_BITS;
	memcpy(&value, &bits, 8);
	return value;
}

/* 1: *ret points to the stored bytes of the row; 0: no such row. */
static int find_row(struct rk_matrix *m, int64_t pid, int64_t dispatch, uint8_t **ret,
		    struct rk_error *err)
{
	const struct process *p = process_of(m, pid);
	struct block *b;

	/* one side may lack the process id: if there is only one process, it must be that */
	if (!p && m->nprocesses == 1 && (pid < 0 || m->processes[0].pid < 0))
		p = &m->processes[0];
	return p ? stored_row(m, p, dispatch, &b, ret, err) : 0;
}

int rk_matrix_get(struct rk_matrix *m, int64_t pid, int64_t dispatch, unsigned col, double *ret,
		  struct rk_error *err)
{
	uint8_t *row;
	int rc = find_row(m, pid, dispatch, &row, err);

	if (rc > 0)
		*ret = value_at(row, col);
	return rc;
}

int rk_matrix_row(struct rk_matrix *m, int64_t pid, int64_t dispatch, const double **ret,
		  struct rk_error *err)
{
	uint8_t *row;
	int rc = find_row(m, pid, dispatch, &row, err);

	if (rc <= 0)
		return rc;
	for (unsigned i = 0; i < m->ncols; i++)
		m->row[i] = value_at(row, i);
	*ret = m->row;
	return 1;
}

int rk_matrix_new(struct rk_context *ctx, unsigned ncols, struct rk_matrix **ret,
		  struct rk_error *err)
{
	struct rk_matrix *m = rk_calloc(1, sizeof(*m));
	bool whole;
	int rc;

	if (!m)
		return rk_fail_nomem(err);
	m->ncols = ncols;
	m->row_bytes = (size_t)ncols * 8;
	m->rows_per_block = ncols ? BLOCK_BYTES / m->row_bytes : 1;
	m->processes = rk_calloc(MAX_PROCESSES, sizeof(*m->processes));
	m->row = rk_calloc(ncols, sizeof(*m->row));
	m->tally = rk_calloc(ncols, sizeof(*m->tally));
	whole = m->processes && m->row && m->tally;
	for (unsigned i = 0; whole && i < BLOCKS; i++) {
		m->blocks[i] = (struct block){ .number = UINT64_MAX };
		m->blocks[i].data = rk_alloc(BLOCK_BYTES);
		whole = m->blocks[i].data != NULL;
	}
	if (!whole)
		rc = rk_fail_nomem(err);
	else if (!m->rows_per_block)
		rc = rk_fail(err, RK_E_LIMIT, "too many counters to join: %u", ncols);
	else
		rc = rk_spill_new(ctx->tmpdir, &m->spill, err);
	if (rc < 0) {
		rk_matrix_free(m);
		return rc;
	}
	*ret = m;
	return 0;
}

uint64_t *rk_matrix_tally(struct rk_matrix *m)
{
	return m->tally;
}

void rk_matrix_free(struct rk_matrix *m)
{
	if (!m)
		return;
	for (unsigned i = 0; i < BLOCKS; i++)
		rk_free(m->blocks[i].data);
	rk_spill_free(m->spill);
	rk_free(m->processes);
	rk_free(m->row);
	rk_free(m->tally);
	rk_free(m);
}
