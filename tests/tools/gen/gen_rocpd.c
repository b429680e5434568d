/* gen_rocpd.c - a rocpd database, schema 3: what rocprofv3 of ROCm 7.0 writes by default. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen_out.h"

#define GUID "0000ddb5-8903-7903-b269-cd8d3745bb8a"
#define UUID "_0000ddb5_8903_7903_b269_cd8d3745bb8a"
#define NODE_ID INT64_C(1808232351)

/* Every table: name and the columns after id and guid. */
static const struct {
	const char *name, *columns;
} tables[] = {
	{ "string", "string TEXT NOT NULL UNIQUE ON CONFLICT ABORT" },
	{ "info_node",
	  "hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, system_name TEXT,"
	  " hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT" },
	{ "info_process",
	  "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT,"
	  " fini BIGINT, start BIGINT, \"end\" BIGINT, command TEXT,"
	  " environment JSONB DEFAULT '{}' NOT NULL, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "info_thread",
	  "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL,"
	  " name TEXT, start BIGINT, \"end\" BIGINT, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "info_agent", "nid INTEGER NOT NULL, pid INTEGER NOT NULL,"
			" type TEXT CHECK (type IN ('CPU', 'GPU')), absolute_index INTEGER,"
			" logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT,"
			" model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT,"
			" extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "info_queue", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT,"
			" extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "info_stream", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT,"
			 " extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "info_pmc",
	  "nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, target_arch TEXT,"
	  " event_code INT, instance_id INT, name TEXT NOT NULL, symbol TEXT NOT NULL,"
	  " description TEXT, long_description TEXT, component TEXT, units TEXT,"
	  " value_type TEXT, block TEXT, expression TEXT, is_constant INTEGER,"
	  " is_derived INTEGER, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "info_code_object",
	  "nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, uri TEXT,"
	  " load_base BIGINT, load_size BIGINT, load_delta BIGINT,"
	  " storage_type TEXT, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "info_kernel_symbol",
	  "nid INTEGER NOT NULL, pid INTEGER NOT NULL, code_object_id INTEGER NOT NULL,"
	  " kernel_name TEXT, display_name TEXT, kernel_object INTEGER,"
	  " kernarg_segment_size INTEGER, kernarg_segment_alignment INTEGER,"
	  " group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count INTEGER,"
	  " arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "track", "nid INTEGER NOT NULL, pid INTEGER, tid INTEGER, name_id INTEGER,"
		   " extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "event", "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER,"
		   " correlation_id INTEGER, call_stack JSONB DEFAULT '{}' NOT NULL,"
		   " line_info JSONB DEFAULT '{}' NOT NULL, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "arg", "event_id INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL,"
		 " name TEXT NOT NULL, value TEXT, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "pmc_event", "event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0,"
		       " extdata JSONB DEFAULT '{}'" },
	{ "region", "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL,"
		    " start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id INTEGER NOT NULL,"
		    " event_id INTEGER, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "sample", "track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, event_id INTEGER,"
		    " extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "kernel_dispatch",
	  "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER NOT NULL,"
	  " kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL,"
	  " stream_id INTEGER NOT NULL, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL,"
	  " private_segment_size INTEGER, group_segment_size INTEGER,"
	  " workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL,"
	  " workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL,"
	  " grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, region_name_id INTEGER,"
	  " event_id INTEGER, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "memory_copy",
	  "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, start BIGINT NOT NULL,"
	  " \"end\" BIGINT NOT NULL, name_id INTEGER NOT NULL, dst_agent_id INTEGER,"
	  " dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER,"
	  " size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER,"
	  " event_id INTEGER, extdata JSONB DEFAULT '{}' NOT NULL" },
	{ "memory_allocate",
	  "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER,"
	  " type TEXT CHECK (type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')),"
	  " level TEXT CHECK (level IN ('REAL', 'VIRTUAL', 'SCRATCH')), start BIGINT NOT NULL,"
	  " \"end\" BIGINT NOT NULL, address INTEGER, size INTEGER NOT NULL, queue_id INTEGER,"
	  " stream_id INTEGER, event_id INTEGER, extdata JSONB DEFAULT '{}' NOT NULL" },
};

/* Ids of rocpd_string, in the order written. */
enum { S_EMPTY = 1, S_DISPATCH, S_COPY, S_API, S_H2D, S_D2H, S_LAUNCH, S_MEMCPY, S_LAST };
static const char *const strings[S_LAST] = {
	[S_EMPTY] = "",
	[S_DISPATCH] = "KERNEL_DISPATCH",
	[S_COPY] = "MEMORY_COPY",
	[S_API] = "HIP_RUNTIME_API_EXT",
	[S_H2D] = "MEMORY_COPY_HOST_TO_DEVICE",
	[S_D2H] = "MEMORY_COPY_DEVICE_TO_HOST",
	[S_LAUNCH] = "hipLaunchKernel",
	[S_MEMCPY] = "hipMemcpyAsync",
};

struct db {
	sqlite3 *h;
	const char *path;
	sqlite3_stmt *event, *dispatch, *copy, *region;
	int64_t event_id;
};

static _Noreturn void die(const struct db *db)
{
	fprintf(stderr, "gen-trace: cannot write '%s': %s\n", db->path, sqlite3_errmsg(db->h));
	exit(EXIT_FAILURE);
}

static void sql(const struct db *db, const char *text)
{
	if (sqlite3_exec(db->h, text, NULL, NULL, NULL) != SQLITE_OK)
		die(db);
}

static sqlite3_stmt *prepare(const struct db *db, const char *text)
{
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(db->h, text, -1, &s, NULL) != SQLITE_OK)
		die(db);
	return s;
}

/* Binds `n` integers from column 1 on, and steps. */
static void insert(const struct db *db, sqlite3_stmt *s, const int64_t *v, int n)
{
	for (int i = 0; i < n; i++)
		sqlite3_bind_int64(s, i + 1, v[i]);
	if (sqlite3_step(s) != SQLITE_DONE)
		die(db);
	sqlite3_reset(s);
}

static void make_tables(const struct db *db)
{
	char text[2048];

	sql(db,
	    "CREATE TABLE rocpd_metadata" UUID " (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,"
	    " tag TEXT NOT NULL, value TEXT NOT NULL);"
	    "CREATE VIEW rocpd_metadata AS SELECT * FROM rocpd_metadata" UUID ";"
	    "INSERT INTO rocpd_metadata" UUID " (tag, value) VALUES ('schema_version', '3'),"
	    " ('uuid', '" UUID "'), ('guid', '" GUID "')");
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(text, sizeof(text),
			 "CREATE TABLE rocpd_%s" UUID
			 " (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,"
			 " guid TEXT DEFAULT '" GUID "' NOT NULL, %s);"
			 "CREATE VIEW rocpd_%s AS SELECT * FROM rocpd_%s" UUID,
			 tables[i].name, tables[i].columns, tables[i].name, tables[i].name);
		sql(db, text);
	}
	/* The view most scripts read. */
	sql(db,
	    "CREATE VIEW kernels AS SELECT K.id, K.guid, K.tid, S.display_name AS name, K.nid,"
	    " K.pid, A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index,"
	    " K.kernel_id, K.dispatch_id, K.stream_id, K.queue_id, K.start, K.\"end\","
	    " K.\"end\" - K.start AS duration, K.grid_size_x AS grid_x, K.grid_size_y AS grid_y,"
	    " K.grid_size_z AS grid_z, K.workgroup_size_x AS workgroup_x, K.workgroup_size_y AS"
	    " workgroup_y, K.workgroup_size_z AS workgroup_z, K.group_segment_size AS lds_size,"
	    " K.private_segment_size AS scratch_size, S.arch_vgpr_count AS vgpr_count,"
	    " S.accum_vgpr_count, S.sgpr_count, E.stack_id FROM rocpd_kernel_dispatch K"
	    " JOIN rocpd_info_agent A ON A.id = K.agent_id AND A.guid = K.guid"
	    " JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid"
	    " JOIN rocpd_event E ON E.id = K.event_id AND E.guid = K.guid");
}

static void write_symbols(const struct db *db)
{
	sqlite3_stmt *s = prepare(
		db, "INSERT INTO rocpd_info_kernel_symbol" UUID
		    " (id, nid, pid, code_object_id, kernel_object, kernarg_segment_size,"
		    " kernarg_segment_alignment, group_segment_size, private_segment_size,"
		    " sgpr_count, arch_vgpr_count, accum_vgpr_count, kernel_name, display_name)"
		    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)");

	for (int i = 0; i < GEN_KERNELS; i++) {
		const struct gen_kernel *k = &gen_kernels[i];
		int64_t v[] = { i + 1,
				NODE_ID,
				GEN_PID,
				1,
				0x7f0000000000 + i * 4096,
				120,
				8,
				k->lds,
				k->scratch,
				k->sgpr,
				k->vgpr,
				k->accum_vgpr };
		char plain[32], mangled[64];

		snprintf(plain, sizeof(plain), "kernel_%d", i);
		snprintf(mangled, sizeof(mangled), "_Z%zu%sv.kd", strlen(plain), plain);
		sqlite3_bind_text(s, 13, mangled, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(s, 14, k->name, -1, SQLITE_STATIC);
		insert(db, s, v, 12);
	}
	sqlite3_finalize(s);
}

static void write_strings(const struct db *db)
{
	sqlite3_stmt *s =
		prepare(db, "INSERT INTO rocpd_string" UUID " (id, string) VALUES (?1, ?2)");

	for (int64_t i = 1; i < S_LAST; i++) {
		sqlite3_bind_text(s, 2, strings[i], -1, SQLITE_STATIC);
		insert(db, s, &i, 1);
	}
	sqlite3_finalize(s);
}

static void write_info(const struct db *db)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "INSERT INTO rocpd_info_node" UUID " (id, hash, machine_id, system_name, hostname)"
		 " VALUES (%" PRId64 ", %" PRId64
		 ", '8f3e1c0d5b6a49718f3e1c0d5b6a4971', 'Linux', '" GEN_HOST "');"
		 "INSERT INTO rocpd_info_process" UUID " (id, nid, ppid, pid, start, command)"
		 " VALUES (%d, %" PRId64 ", %d, %d, %" PRId64 ", 'python3 train.py');",
		 NODE_ID, NODE_ID, GEN_PID, NODE_ID, GEN_PPID, GEN_PID, GEN_START_NS - 3000000000);
	sql(db, text);
	for (int i = 0; i < GEN_GPUS; i++) {
		int tid = GEN_PID + i * 14;

		snprintf(text, sizeof(text),
			 "INSERT INTO rocpd_info_thread" UUID " (id, nid, ppid, pid, tid, name)"
			 " VALUES (%d, %" PRId64 ", %d, %d, %d, 'python3')",
			 tid, NODE_ID, GEN_PPID, GEN_PID, tid);
		sql(db, text);
	}
	for (int id = 0; id < GEN_FIRST_GPU + GEN_GPUS; id++) {
		bool gpu = id >= GEN_FIRST_GPU;

		snprintf(text, sizeof(text),
			 "INSERT INTO rocpd_info_agent" UUID
			 " (id, nid, pid, type, absolute_index, logical_index, type_index, name,"
			 " model_name, vendor_name, product_name) VALUES (%d, %" PRId64
			 ", %d, '%s', %d, %d, %d, '%s', '', 'AMD', '%s')",
			 id, NODE_ID, GEN_PID, gpu ? "GPU" : "CPU", id, id,
			 gpu ? id - GEN_FIRST_GPU : id,
			 gpu ? "gfx942" : "AMD EPYC 9534 64-Core Processor",
			 gpu ? "AMD Instinct MI300X" : "AMD EPYC 9534 64-Core Processor");
		sql(db, text);
	}
	for (int i = 0; i <= GEN_STREAMS; i++) {
		snprintf(text, sizeof(text),
			 "INSERT INTO rocpd_info_queue" UUID " (id, nid, pid, name)"
			 " VALUES (%d, %" PRId64 ", %d, 'Queue %d');"
			 "INSERT INTO rocpd_info_stream" UUID " (id, nid, pid, name)"
			 " VALUES (%d, %" PRId64 ", %d, 'Stream %d')",
			 i, NODE_ID, GEN_PID, i, i, NODE_ID, GEN_PID, i);
		sql(db, text);
	}
}

static int64_t write_event(struct db *db, int64_t category, uint64_t correlation_id)
{
	int64_t v[] = { ++db->event_id, category, (int64_t)correlation_id, 0, 0 };

	insert(db, db->event, v, 5);
	return db->event_id;
}

static void write_dispatch(struct db *db, const struct gen_event *e)
{
	const struct gen_kernel *k = &gen_kernels[e->kernel];
	int64_t v[] = { (int64_t)e->dispatch_id,
			NODE_ID,
			GEN_PID,
			e->tid,
			e->agent,
			e->kernel + 1,
			(int64_t)e->dispatch_id,
			e->queue,
			e->stream,
			e->start_ns,
			e->end_ns,
			k->scratch,
			k->lds,
			k->block[0],
			k->block[1],
			k->block[2],
			e->grid[0],
			e->grid[1],
			e->grid[2],
			S_EMPTY,
			write_event(db, S_DISPATCH, e->correlation_id) };

	insert(db, db->dispatch, v, 21);
}

static void write_copy(struct db *db, const struct gen_event *e)
{
	int64_t gpu = e->agent, host = 0;
	int64_t v[] = { NODE_ID,
			GEN_PID,
			e->tid,
			e->start_ns,
			e->end_ns,
			e->to_device ? S_H2D : S_D2H,
			e->to_device ? gpu : host,
			e->to_device ? host : gpu,
			(int64_t)e->bytes,
			e->stream,
			write_event(db, S_COPY, e->correlation_id) };

	insert(db, db->copy, v, 11);
}

static void write_region(struct db *db, const struct gen_event *e)
{
	int64_t v[] = { (int64_t)e->correlation_id,
			NODE_ID,
			GEN_PID,
			e->tid,
			e->call_start_ns,
			e->call_end_ns,
			e->is_copy ? S_MEMCPY : S_LAUNCH,
			write_event(db, S_API, e->correlation_id) };

	insert(db, db->region, v, 8);
}

static void prepare_all(struct db *db)
{
	db->event = prepare(db, "INSERT INTO rocpd_event" UUID " (id, category_id, stack_id,"
				" parent_stack_id, correlation_id) VALUES (?1, ?2, ?3, ?4, ?5)");
	db->dispatch = prepare(
		db, "INSERT INTO rocpd_kernel_dispatch" UUID
		    " (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id,"
		    " start, \"end\", private_segment_size, group_segment_size, workgroup_size_x,"
		    " workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z,"
		    " region_name_id, event_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
		    " ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)");
	db->copy = prepare(db,
			   "INSERT INTO rocpd_memory_copy" UUID
			   " (nid, pid, tid, start, \"end\", name_id, dst_agent_id, src_agent_id,"
			   " size, stream_id, event_id)"
			   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
	db->region = prepare(db, "INSERT INTO rocpd_region" UUID
				 " (id, nid, pid, tid, start, \"end\", name_id, event_id)"
				 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
}

void gen_write_rocpd(const char *path, uint64_t seed, uint64_t rows, bool api)
{
	struct db db = { .path = path };
	struct gen_workload w;
	struct gen_event e;

	unlink(path);
	if (sqlite3_open(path, &db.h) != SQLITE_OK)
		die(&db);
	sql(&db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN");
	make_tables(&db);
	write_strings(&db);
	write_info(&db);
	write_symbols(&db);
	prepare_all(&db);
	gen_start(&w, seed, rows);
	while (gen_next(&w, &e)) {
		if (e.is_copy)
			write_copy(&db, &e);
		else
			write_dispatch(&db, &e);
		if (api)
			write_region(&db, &e);
	}
	sqlite3_finalize(db.event);
	sqlite3_finalize(db.dispatch);
	sqlite3_finalize(db.copy);
	sqlite3_finalize(db.region);
	sql(&db, "COMMIT");
	if (sqlite3_close(db.h) != SQLITE_OK)
		die(&db);
}
