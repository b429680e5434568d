/* sim_rocpd.c - the database of rocprofv3 from 7.0 on, schema 3.0.0, made in memory. */
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "sim_rocpd.h"

#define NODE 1808232351

static _Noreturn void sql_failed(sqlite3 *db, const char *text)
{
	fprintf(stderr, "rockit-sim: %s: %s\n", sqlite3_errmsg(db), text);
	exit(120);
}

void sql_run(struct db *db, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (!text || sqlite3_exec(db->sql, text, NULL, NULL, NULL) != SQLITE_OK)
		sql_failed(db->sql, text ? text : "no memory");
	sqlite3_free(text);
}

void db_insert(struct db *db, const char *table, const char *columns, const char *fmt, ...)
{
	va_list ap;
	char *values;

	va_start(ap, fmt);
	values = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	sql_run(db, "INSERT INTO \"rocpd_%s%s\"(%s) VALUES(%s)", table, db->uuid, columns, values);
	sqlite3_free(values);
}

int64_t db_string(struct db *db, const char *text)
{
	for (size_t i = 0; i < db->strings.n; i++)
		if (strcmp(db->strings.at[i], text) == 0)
			return (int64_t)i + 1;
	words_add(&db->strings, text);
	db_insert(db, "string", "id,string", "%d,%Q", (int)db->strings.n, text);
	return (int64_t)db->strings.n;
}

static int64_t event(struct db *db, const char *category, unsigned stack, const char *message)
{
	struct text extra = { 0 };

	text_add(&extra, "{");
	if (message) {
		text_add(&extra, "\"message\":");
		text_json(&extra, message);
	}
	text_add(&extra, "}");
	db_insert(db, "event", "id,category_id,stack_id,parent_stack_id,correlation_id,extdata",
		  "%lld,%lld,%u,0,0,%Q", (long long)++db->events,
		  (long long)db_string(db, category), stack, extra.at);
	return db->events;
}

static char *command_of(char *const *argv)
{
	struct words w = { 0 };

	for (size_t i = 0; argv[i]; i++)
		words_add(&w, argv[i]);
	return words_join(&w, " ");
}

static void put_process(struct db *db, const struct work *w)
{
	struct utsname u;

	uname(&u);
	db_string(db, "");
	db_insert(
		db, "info_node",
		"id,hash,machine_id,system_name,hostname,release,version,hardware_name,domain_name",
		"%d,%d,'0123456789abcdef0123456789abcdef',%Q,%Q,%Q,%Q,%Q,'(none)'", NODE, NODE,
		u.sysname, host_name(), u.release, u.version, u.machine);
	db_insert(db, "info_process", "id,nid,ppid,pid,init,fini,start,end,command",
		  "%d,%d,%d,%d,%lld,%lld,%lld,%lld,%Q", (int)w->pid, NODE, (int)w->ppid,
		  (int)w->pid, (long long)w->start, (long long)w->end, (long long)w->start,
		  (long long)w->end, command_of(w->argv));
	db_insert(db, "info_thread", "id,nid,ppid,pid,tid,name,start,end",
		  "%d,%d,%d,%d,%d,%Q,%lld,%lld", (int)w->pid, NODE, (int)w->ppid, (int)w->pid,
		  (int)w->pid, w->argv[0], (long long)w->start, (long long)w->end);
	db_insert(db, "track", "id,nid,pid,tid", "1,%d,%d,%d", NODE, (int)w->pid, (int)w->pid);
	for (int i = 0; i < 2; i++) {
		db_insert(db, "info_queue", "id,nid,pid,name", "%d,%d,%d,%Q", i, NODE, (int)w->pid,
			  i ? "Queue 0" : "Default Queue");
		db_insert(db, "info_stream", "id,nid,pid,name", "%d,%d,%d,%Q", i, NODE, (int)w->pid,
			  i ? "Stream 0" : "Default Stream");
	}
}

static void put_agents(struct db *db, const struct work *w)
{
	for (unsigned node = 0; node <= sim.gpus; node++) {
		const char *name = node ? sim.arch : "AMD EPYC 9654 96-Core Processor";
		const char *product = node ? "AMD Instinct (simulated)" : name;

		db_insert(db, "info_agent",
			  "id,nid,pid,type,absolute_index,logical_index,type_index,uuid,name,"
			  "model_name,vendor_name,product_name,user_name,extdata",
			  "%u,%d,%d,%Q,%u,%u,%u,%u,%Q,'',%Q,%Q,'','{\"node_id\":%u,"
			  "\"name\":\"%s\",\"cu_count\":%d,\"simd_per_cu\":4,\"num_xcc\":%d,"
			  "\"wave_front_size\":%d,\"max_engine_clk_fcompute\":%d}'",
			  node, NODE, (int)w->pid, node ? "GPU" : "CPU", node, node,
			  node ? node - 1 : 0, node ? 29857 : 0, name, node ? "AMD" : "CPU",
			  product, node, name, node ? 304 : 96, node ? 8 : 0, node ? 64 : 0,
			  node ? 2100 : 0);
	}
}

static void put_kernels(struct db *db, const struct tool *t, const struct work *w)
{
	db_insert(db, "info_code_object", "id,nid,pid,agent_id,uri,load_base,load_size,load_delta",
		  "1,%d,%d,1,'file:///app#offset=4096&size=8192',0,8192,0", NODE, (int)w->pid);
	for (size_t i = 0; i < w->nkernels; i++) {
		const struct kernel *k = &kernel_list[i];
		struct text extra = { 0 };

		text_add(&extra, "{\"formatted_kernel_name\":");
		text_json(&extra, tool_kernel_name(t, k));
		text_add(&extra, ",\"demangled_kernel_name\":");
		text_json(&extra, k->name);
		text_add(&extra, ",\"truncated_kernel_name\":");
		text_json(&extra, k->brief);
		text_add(&extra, "}");
		db_insert(
			db, "info_kernel_symbol",
			"id,nid,pid,code_object_id,kernel_name,display_name,kernel_object,"
			"kernarg_segment_size,kernarg_segment_alignment,group_segment_size,"
			"private_segment_size,sgpr_count,arch_vgpr_count,accum_vgpr_count,extdata",
			"%d,%d,%d,1,'%q.kd',%Q,%d,64,8,%u,%u,%u,%u,%u,%Q", (int)i + 1, NODE,
			(int)w->pid, k->mangled, tool_kernel_name(t, k), (int)(i + 1) * 256, k->lds,
			k->scratch, k->sgpr, k->vgpr, k->accum, extra.at);
	}
}

static void put_calls(struct db *db, const struct tool *t, const struct work *w)
{
	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];
		int64_t e;

		if (!tool_wants_call(t, c))
			continue;
		e = event(db, tool_domain(c), c->correlation, c->message);
		if (c->start == c->end)
			db_insert(db, "sample", "id,track_id,timestamp,event_id", "%u,1,%lld,%lld",
				  c->correlation, (long long)c->start, (long long)e);
		else
			db_insert(db, "region", "id,nid,pid,tid,start,end,name_id,event_id",
				  "%u,%d,%d,%d,%lld,%lld,%lld,%lld", c->correlation, NODE,
				  (int)w->pid, (int)w->pid, (long long)c->start, (long long)c->end,
				  (long long)db_string(db, c->message ? "roctxThreadRangeA" :
									c->function),
				  (long long)e);
	}
}

/* The id of a counter; it is described when it is first seen. */
static int64_t pmc_id(struct db *db, const struct work *w, const char *name)
{
	const struct counter_row *row = counter_find(name);
	bool derived = strcmp(row->block, "-") == 0;

	for (size_t i = 0; i < db->counters.n; i++)
		if (strcmp(db->counters.at[i], name) == 0)
			return (int64_t)i + 1;
	words_add(&db->counters, name);
	db_insert(
		db, "info_pmc",
		"id,nid,pid,agent_id,target_arch,event_code,instance_id,name,symbol,description,"
		"long_description,component,units,value_type,block,expression,is_constant,is_derived",
		"%d,%d,%d,1,'GPU',0,0,%Q,%Q,'','','rocm','','ABS',%Q,%Q,0,%d", (int)db->counters.n,
		NODE, (int)w->pid, name, name, derived ? "" : row->block, row->needs, derived);
	return (int64_t)db->counters.n;
}

/* One row per hardware instance: two of them share the value. */
static void put_counters(struct db *db, const struct work *w, const struct dispatch *d,
			 const struct words *counters, int64_t e)
{
	for (size_t i = 0; i < counters->n; i++) {
		double value = counter_value(counters->at[i], d->id);
		double half = (double)(int64_t)(value / 2);
		int64_t id = pmc_id(db, w, counters->at[i]);

		db_insert(db, "pmc_event", "event_id,pmc_id,value", "%lld,%lld,%f", (long long)e,
			  (long long)id, half);
		db_insert(db, "pmc_event", "event_id,pmc_id,value", "%lld,%lld,%f", (long long)e,
			  (long long)id, value - half);
	}
}

/* Counters alone fill it too. */
static void put_dispatches(struct db *db, const struct tool *t, const struct work *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct dispatch *d = &w->dispatches[i];
		const struct kernel *k = d->kernel;
		const struct words *counters = NULL;
		size_t again = 0;
		int64_t e;

		if (!tool_counts(t, w, i, &counters))
			counters = NULL;
		if (!t->kernel && !counters)
			continue;
repeat:
		if (counters && t->replay)
			counters = &t->groups[again];
		e = event(db, "KERNEL_DISPATCH", d->correlation, NULL);
		db_insert(
			db, "kernel_dispatch",
			"id,nid,pid,tid,agent_id,kernel_id,dispatch_id,queue_id,stream_id,start,end,"
			"private_segment_size,group_segment_size,workgroup_size_x,workgroup_size_y,"
			"workgroup_size_z,grid_size_x,grid_size_y,grid_size_z,region_name_id,event_id",
			"%u,%d,%d,%d,%u,%u,%u,%u,%u,%lld,%lld,%u,%u,%u,%u,%u,%u,%u,%u,%lld,%lld",
			d->id + (unsigned)(again * w->ndispatches), NODE, (int)w->pid, (int)w->pid,
			d->agent, d->kernel_id, d->id, d->queue, d->stream, (long long)d->start,
			(long long)d->end, k->scratch, k->lds, k->block[0], k->block[1],
			k->block[2], k->grid[0], k->grid[1], k->grid[2],
			(long long)db_string(db, ""), (long long)e);
		if (counters)
			put_counters(db, w, d, counters, e);
		if (!counters || !t->replay)
			continue;
		sql_run(db, "UPDATE rocpd_kernel_dispatch%s SET replay_pass=%d WHERE event_id=%lld",
			db->uuid, (int)again, (long long)e);
		if (++again < t->ngroups)
			goto repeat;
	}
}

static void put_copies(struct db *db, const struct tool *t, const struct work *w)
{
	for (size_t i = 0; t->copy && i < w->ncopies; i++) {
		const struct copy *c = &w->copies[i];
		int64_t e = event(db, "MEMORY_COPY", c->correlation, NULL);
		int64_t name = db_string(db, print_text("MEMORY_COPY_%s", c->direction));

		db_insert(db, "memory_copy",
			  "id,nid,pid,tid,start,end,name_id,dst_agent_id,dst_address,src_agent_id,"
			  "src_address,size,stream_id,event_id",
			  "%d,%d,%d,%d,%lld,%lld,%lld,%u,4096,%u,8192,%lld,%u,%lld", (int)i + 1,
			  NODE, (int)w->pid, (int)w->pid, (long long)c->start, (long long)c->end,
			  (long long)name, c->dst, c->src, (long long)c->bytes, c->stream,
			  (long long)e);
	}
}

static void put_allocations(struct db *db, const struct tool *t, const struct work *w)
{
	for (size_t i = 0; i < w->nallocations; i++) {
		const struct allocation *a = &w->allocations[i];
		bool free_it = strcmp(a->operation, "FREE") == 0;
		int64_t e;

		if (a->scratch ? !t->scratch : !t->alloc)
			continue;
		e = event(db, a->scratch ? "SCRATCH_MEMORY" : "MEMORY_ALLOCATION", a->correlation,
			  NULL);
		db_insert(
			db, "memory_allocate",
			"nid,pid,tid,agent_id,type,level,start,end,address,size,queue_id,stream_id,"
			"event_id,extdata",
			"%d,%d,%d,%s,%Q,%Q,%lld,%lld,%lld,%lld,1,1,%lld,%Q", NODE, (int)w->pid,
			(int)w->pid, free_it && !a->scratch ? "NULL" : print_text("%u", a->agent),
			free_it ? "FREE" : "ALLOC", a->scratch ? "SCRATCH" : "REAL",
			(long long)a->start, (long long)a->end, (long long)a->address,
			(long long)a->bytes, (long long)e, a->scratch ? "{\"flags\":\"0\"}" : "{}");
	}
}

static void into_file(struct db *db, const char *path)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes = sqlite3_serialize(db->sql, "main", &size, 0);

	if (!bytes)
		sql_failed(db->sql, "serialize");
	text_bytes(file_new(path), bytes, (size_t)size);
	sqlite3_free(bytes);
	sqlite3_close(db->sql);
}

/* 7.0 puts messages into its SQL as they are: a quote or a semicolon ends the statement early. */
bool rocpd_breaks(const struct tool *t, const struct work *w)
{
	for (size_t i = 0; i < w->ncalls && sim.release == REL_70; i++)
		if (w->calls[i].message && tool_wants_call(t, &w->calls[i]) &&
		    strpbrk(w->calls[i].message, "';"))
			return true;
	return false;
}

void rocpd_write(const char *path, const struct tool *t, const struct work *w)
{
	bool killed = fault("kill-mid-write");
	struct db db = { .guid = tool_guid(w) };
	char *uuid = print_text("_%s", db.guid);

	for (char *p = uuid; *p; p++)
		if (*p == '-')
			*p = '_';
	db.uuid = uuid;
	if (sqlite3_open(":memory:", &db.sql) != SQLITE_OK)
		sql_failed(db.sql, "open");
	sql_run(&db, "BEGIN");
	rocpd_schema(&db);
	if (t->replay)
		sql_run(&db, "ALTER TABLE rocpd_kernel_dispatch%s ADD replay_pass INTEGER",
			db.uuid);
	put_process(&db, w);
	put_agents(&db, w);
	put_kernels(&db, t, w);
	if (!rocpd_breaks(t, w)) {
		put_calls(&db, t, w);
		put_dispatches(&db, t, w, killed ? w->ndispatches / 2 : w->ndispatches);
	}
	/* killed on the way: what SQLite had committed by then, the late tables are missing */
	if (!killed && !rocpd_breaks(t, w)) {
		put_copies(&db, t, w);
		put_allocations(&db, t, w);
	}
	sql_run(&db, "COMMIT");
	into_file(&db, path);
}

void rocpd_file(const struct tool *t, const struct work *w)
{
	rocpd_write(print_text("%s_results.db", t->base), t, w);
}
