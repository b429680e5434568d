/* rocpd_fixture.c - small rocpd databases made with SQLite, and rows as text to compare. */
#include "rocpd_fixture.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

void fixture_begin(struct fixture *f)
{
	*f = (struct fixture){ .dir = "/tmp/rk-rocpd-XXXXXX" };
	CHECK(mkdtemp(f->dir) != NULL);
	snprintf(f->path, sizeof(f->path), "%s/trace_results.db", f->dir);
	CHECK(sqlite3_open(f->path, &f->db) == SQLITE_OK);
	fixture_sql(f, "PRAGMA synchronous=OFF");
}

void fixture_sql(struct fixture *f, const char *fmt, ...)
{
	char *sql, *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (sqlite3_exec(f->db, sql, NULL, NULL, &why) != SQLITE_OK)
		CHECK_STR(why, "");
	sqlite3_free(why);
	sqlite3_free(sql);
}

static const struct {
	const char *name, *columns;
} schema[] = {
	{ "metadata", "tag TEXT, value TEXT" },
	{ "string", "string TEXT NOT NULL UNIQUE" },
	{ "info_node", "hash BIGINT, machine_id TEXT, system_name TEXT, hostname TEXT" },
	{ "info_process",
	  "nid INTEGER, ppid INTEGER, pid INTEGER, init BIGINT, fini BIGINT, "
	  "start BIGINT, end BIGINT, command TEXT, environment JSONB, extdata JSONB" },
	{ "info_thread", "nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, name TEXT" },
	{ "info_agent", "nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER, "
			"logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT, "
			"model_name TEXT, vendor_name TEXT, product_name TEXT, extdata JSONB" },
	{ "info_pmc", "nid INTEGER, pid INTEGER, agent_id INTEGER, name TEXT, symbol TEXT" },
	{ "info_kernel_symbol",
	  "nid INTEGER, pid INTEGER, code_object_id INTEGER, kernel_name TEXT, display_name TEXT, "
	  "group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count INTEGER, "
	  "arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, extdata JSONB" },
	{ "track", "nid INTEGER, pid INTEGER, tid INTEGER, name_id INTEGER, extdata JSONB" },
	{ "event", "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "
		   "correlation_id INTEGER, call_stack JSONB, line_info JSONB, extdata JSONB" },
	{ "pmc_event", "event_id INTEGER, pmc_id INTEGER, value REAL, extdata JSONB" },
	{ "region", "nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, "
		    "name_id INTEGER, event_id INTEGER, extdata JSONB" },
	{ "sample", "track_id INTEGER, timestamp BIGINT, event_id INTEGER, extdata JSONB" },
	{ "kernel_dispatch",
	  "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, "
	  "dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT, "
	  "private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER, "
	  "workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, "
	  "grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER, "
	  "extdata JSONB" },
	{ "memory_copy",
	  "nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, "
	  "name_id INTEGER, dst_agent_id INTEGER, dst_address INTEGER, "
	  "src_agent_id INTEGER, src_address INTEGER, size INTEGER, queue_id INTEGER, "
	  "stream_id INTEGER, region_name_id INTEGER, event_id INTEGER, extdata JSONB" },
	{ "memory_allocate",
	  "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, type TEXT, "
	  "level TEXT, start BIGINT, end BIGINT, address INTEGER, size INTEGER, "
	  "queue_id INTEGER, stream_id INTEGER, event_id INTEGER, extdata JSONB" },
};

void fixture_schema(struct fixture *f, const char *suffix)
{
	for (size_t i = 0; i < sizeof(schema) / sizeof(schema[0]); i++)
		fixture_sql(f,
			    "CREATE TABLE \"rocpd_%s%s\"(id INTEGER PRIMARY KEY AUTOINCREMENT, "
			    "guid TEXT DEFAULT \"g\" NOT NULL, %s)",
			    schema[i].name, suffix, schema[i].columns);
}

void fixture_rows(struct fixture *f, const char *suffix, int pid)
{
	const char *s = suffix;

	fixture_sql(f,
		    "INSERT INTO \"rocpd_string%s\"(id,string) VALUES (1,''),"
		    "(2,'HIP_RUNTIME_API_EXT'),(3,'KERNEL_DISPATCH'),(4,'MARKER_CORE_RANGE_API'),"
		    "(5,'hipLaunchKernel'),(6,'roctxRangePushA'),(7,'MEMORY_COPY_HOST_TO_DEVICE'),"
		    "(8,'MEMORY_COPY'),(9,'SCRATCH_MEMORY')",
		    s);
	fixture_sql(f, "INSERT INTO \"rocpd_info_node%s\"(id,hostname) VALUES (77,'node%d')", s,
		    pid);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_info_process%s\"(id,nid,ppid,pid,start,end,command) "
		    "VALUES (%d,77,1,%d,100,90000,'./app --n 1')",
		    s, pid, pid);
	fixture_sql(f, "INSERT INTO \"rocpd_info_thread%s\"(id,nid,pid,tid) VALUES (%d,77,%d,%d)",
		    s, pid, pid, pid);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_info_agent%s\"(id,nid,pid,type,absolute_index,name,"
		    "product_name,extdata) VALUES (0,77,%d,'CPU',0,'EPYC','EPYC','{}'),"
		    "(1,77,%d,'GPU',4,'gfx942','MI300X','{\"name\": \"gfx942\", \"cu_count\":304,"
		    "\"max_engine_clk_fcompute\":2100,\"num_xcc\":8,\"wave_front_size\":64,"
		    "\"array_count\":32,\"simd_arrays_per_engine\":1,\"simd_per_cu\":4,"
		    "\"max_waves_per_cu\":32,"
		    "\"mem_banks\":[{\"size_in_bytes\":100,\"mem_clk_max\":1300},"
		    "{\"size_in_bytes\":28,\"mem_clk_max\":900}]}')",
		    s, pid, pid);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_info_kernel_symbol%s\"(id,kernel_name,display_name,"
		    "arch_vgpr_count,accum_vgpr_count,sgpr_count) VALUES "
		    "(7,'_Z3addPf.kd','add(float*)',32,4,96),(8,NULL,'mul',8,0,16)",
		    s);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_info_pmc%s\"(id,name) VALUES (11,'SQ_WAVES'),"
		    "(12,'GRBM_COUNT')",
		    s);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_event%s\"(id,category_id,stack_id,correlation_id,extdata) "
		    "VALUES (1,2,10,0,'{}'),(2,3,10,0,'{}'),(3,2,20,0,'{}'),(4,3,20,0,'{}'),"
		    "(5,4,30,0,'{\"message\":\"step 1\"}'),(6,8,40,0,'{}'),(7,9,50,0,'{}')",
		    s);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_region%s\"(id,nid,pid,tid,start,end,name_id,event_id) "
		    "VALUES (10,77,%d,%d,1000,1500,5,1),(20,77,%d,%d,2000,2500,5,3),"
		    "(30,77,%d,%d,900,9000,6,5)",
		    s, pid, pid, pid, pid, pid, pid);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_kernel_dispatch%s\" VALUES "
		    "(1,'g',77,%d,%d,1,7,1,2,3,13386742234691895,13386742234691995,0,2048,64,2,1,"
		    "1000,7,1,1,2,'{}'),"
		    "(2,'g',77,%d,%d,1,8,2,2,3,13386742234695000,13386742234695300,16,0,256,1,1,"
		    "512,1,1,1,4,'{}')",
		    s, pid, pid, pid, pid);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_memory_copy%s\"(nid,pid,tid,start,end,name_id,"
		    "dst_agent_id,src_agent_id,size,stream_id,event_id) VALUES "
		    "(77,%d,%d,3000,3400,7,1,0,4096,3,6)",
		    s, pid, pid);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_memory_allocate%s\"(nid,pid,tid,agent_id,type,level,start,"
		    "end,address,size,event_id,extdata) VALUES "
		    "(77,%d,%d,1,'ALLOC','REAL',500,600,4096,8192,NULL,'{}'),"
		    "(77,%d,%d,1,'FREE','VIRTUAL',700,710,4096,0,NULL,'{}'),"
		    "(77,%d,%d,1,'ALLOC','SCRATCH',800,820,NULL,64,7,'{\"flags\":\"3\"}')",
		    s, pid, pid, pid, pid, pid, pid);
	fixture_sql(f,
		    "INSERT INTO \"rocpd_pmc_event%s\"(event_id,pmc_id,value) VALUES (2,11,1.5),"
		    "(2,12,100),(2,11,2.5),(4,11,8)",
		    s);
}

void fixture_close(struct fixture *f)
{
	CHECK(sqlite3_close(f->db) == SQLITE_OK);
	f->db = NULL;
}

static void each_file(const char *dir, void (*fn)(const char *path, void *arg), void *arg)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		if (list[i]->d_name[0] != '.')
			fn(path, arg);
		free(list[i]);
	}
	free(list);
}

static void remove_file(const char *path, void *arg)
{
	(void)arg;
	unlink(path);
}

void fixture_end(struct fixture *f)
{
	if (f->db)
		fixture_close(f);
	each_file(f->dir, remove_file, NULL);
	CHECK(rmdir(f->dir) == 0);
}

void fixture_damage(struct fixture *f, long offset, int byte, size_t len)
{
	FILE *h = fopen(f->path, "r+b");

	CHECK(h && fseek(h, offset, SEEK_SET) == 0);
	while (h && len--)
		fputc(byte, h);
	if (h)
		fclose(h);
}

static void list_file(const char *path, void *arg)
{
	struct rk_bytes *out = arg;
	FILE *h = fopen(path, "rb");
	uint64_t sum = 14695981039346656037u, size = 0;
	int c;

	for (; h && (c = fgetc(h)) != EOF; size++)
		sum = (sum ^ (unsigned)c) * 1099511628211u;
	if (h)
		fclose(h);
	rk_bytes_printf(out, "%s %" PRIu64 " %" PRIx64 "\n", path, size, sum);
}

void fixture_listing(const struct fixture *f, struct rk_bytes *out)
{
	each_file(f->dir, list_file, out);
}

int rig_open_in(struct rig *r, const char *path, const char *tmpdir)
{
	const struct rk_reader_ops *ops = rk_reader_by_name("rocpd");
	struct rk_instream *in = NULL;
	int rc;

	*r = (struct rig){ .ctx.tmpdir = tmpdir };
	rk_bytes_init(&r->text, 16 << 20);
	rc = rk_strtab_new(RK_NAMES_MAX_BYTES, &r->ctx.names, &r->err);
	if (!rc)
		rc = rk_diag_new(&r->ctx.diag, &r->err);
	if (!rc)
		rc = rk_instream_open(path, &in, &r->err);
	if (!rc)
		rc = ops->open(ops, in, &r->ctx, &r->reader, &r->err);
	if (rc < 0)
		rk_instream_close(in);
	return rc;
}

int rig_open(struct rig *r, const char *path)
{
	return rig_open_in(r, path, NULL);
}

static void put_value(struct rig *r, const struct rk_batch *b, unsigned f, size_t row)
{
	const void *data = b->cols[f].data;

	rk_bytes_printf(&r->text, "%s%s=", f ? " " : "", b->schema->fields[f].name);
	switch (b->schema->fields[f].type) {
	case RK_I64:
		rk_bytes_printf(&r->text, "%" PRId64, ((const int64_t *)data)[row]);
		break;
	case RK_I32:
		rk_bytes_printf(&r->text, "%" PRId32, ((const int32_t *)data)[row]);
		break;
	case RK_F64:
		rk_bytes_printf(&r->text, "%g", ((const double *)data)[row]);
		break;
	case RK_STR:
		rk_bytes_puts(&r->text,
			      rk_strtab_borrow(r->ctx.names, ((const uint32_t *)data)[row], NULL));
		break;
	case RK_BOOL:
		rk_bytes_printf(&r->text, "%d", ((const uint8_t *)data)[row]);
		break;
	}
}

const char *rig_dump(struct rig *r, enum rk_table t, uint64_t want)
{
	struct rk_source *s = NULL;
	const struct rk_batch *b = NULL;
	int rc = r->reader ? r->reader->ops->scan(r->reader, t, want, &s, &r->err) : RK_E_USAGE;

	rk_bytes_clear(&r->text);
	while (!rc && (rc = rk_source_next(s, &b, &r->err)) > 0) {
		for (size_t row = 0; row < b->nrows; row++) {
			for (unsigned f = 0; f < b->schema->nfields; f++)
				if (rk_column_has(&b->cols[f], row))
					put_value(r, b, f, row);
			rk_bytes_puts(&r->text, "\n");
		}
		rc = 0;
	}
	rk_source_close(s);
	return rc < 0 ? NULL : rk_bytes_str(&r->text);
}

int64_t rig_count(struct rig *r, enum rk_table t)
{
	struct rk_source *s = NULL;
	const struct rk_batch *b = NULL;
	int64_t n = 0;
	int rc = r->reader ? r->reader->ops->scan(r->reader, t, RK_WANT_ALL, &s, &r->err) :
			     RK_E_USAGE;

	while (!rc && (rc = rk_source_next(s, &b, &r->err)) > 0) {
		n += (int64_t)b->nrows;
		rc = 0;
	}
	rk_source_close(s);
	return rc < 0 ? rc : n;
}

uint64_t rig_warnings(const struct rig *r, const char *kind)
{
	size_t n = 0;
	const struct rk_warning *w = rk_diag_list(r->ctx.diag, &n);
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (strcmp(w[i].kind, kind) == 0)
			count += w[i].count;
	return count;
}

void rig_close(struct rig *r)
{
	if (r->reader)
		r->reader->ops->close(r->reader);
	rk_diag_free(r->ctx.diag);
	rk_strtab_free(r->ctx.names);
	rk_bytes_release(&r->text);
}
