/* sim_rocpd_schema.c - tables and views of schema 3.0.0. */
#include "sim_rocpd.h"

#define NID "\"nid\" INTEGER NOT NULL,\"pid\" INTEGER NOT NULL,"
#define EXTRA "\"extdata\" JSONB DEFAULT '{}' NOT NULL"
#define TIMES "\"start\" BIGINT NOT NULL,\"end\" BIGINT NOT NULL,"

/* Columns after id and guid. */
static const char *const tables[][2] = {
	{ "string", "\"string\" TEXT NOT NULL UNIQUE ON CONFLICT ABORT" },
	{ "info_node", "\"hash\" BIGINT NOT NULL UNIQUE,\"machine_id\" TEXT NOT NULL UNIQUE,"
		       "\"system_name\" TEXT,\"hostname\" TEXT,\"release\" TEXT,\"version\" TEXT,"
		       "\"hardware_name\" TEXT,\"domain_name\" TEXT" },
	{ "info_process",
	  "\"nid\" INTEGER NOT NULL,\"ppid\" INTEGER,\"pid\" INTEGER NOT NULL,\"init\" BIGINT,"
	  "\"fini\" BIGINT,\"start\" BIGINT,\"end\" BIGINT,\"command\" TEXT,"
	  "\"environment\" JSONB DEFAULT '{}' NOT NULL," EXTRA },
	{ "info_thread",
	  "\"nid\" INTEGER NOT NULL,\"ppid\" INTEGER,\"pid\" INTEGER NOT NULL,"
	  "\"tid\" INTEGER NOT NULL,\"name\" TEXT,\"start\" BIGINT,\"end\" BIGINT," EXTRA },
	{ "info_agent",
	  NID "\"type\" TEXT CHECK(\"type\" IN ('CPU','GPU')),\"absolute_index\" INTEGER,"
	      "\"logical_index\" INTEGER,\"type_index\" INTEGER,\"uuid\" INTEGER,\"name\" TEXT,"
	      "\"model_name\" TEXT,\"vendor_name\" TEXT,\"product_name\" TEXT,"
	      "\"user_name\" TEXT," EXTRA },
	{ "info_queue", NID "\"name\" TEXT," EXTRA },
	{ "info_stream", NID "\"name\" TEXT," EXTRA },
	{ "info_pmc",
	  NID "\"agent_id\" INTEGER,\"target_arch\" TEXT,\"event_code\" INT,\"instance_id\" INT,"
	      "\"name\" TEXT NOT NULL,\"symbol\" TEXT NOT NULL,\"description\" TEXT,"
	      "\"long_description\" TEXT DEFAULT '',\"component\" TEXT,\"units\" TEXT DEFAULT '',"
	      "\"value_type\" TEXT,\"block\" TEXT,\"expression\" TEXT,\"is_constant\" INTEGER,"
	      "\"is_derived\" INTEGER," EXTRA },
	{ "info_code_object",
	  NID "\"agent_id\" INTEGER,\"uri\" TEXT,\"load_base\" BIGINT,\"load_size\" BIGINT,"
	      "\"load_delta\" BIGINT,\"storage_type\" TEXT," EXTRA },
	{ "info_kernel_symbol",
	  NID "\"code_object_id\" INTEGER NOT NULL,\"kernel_name\" TEXT,\"display_name\" TEXT,"
	      "\"kernel_object\" INTEGER,\"kernarg_segment_size\" INTEGER,"
	      "\"kernarg_segment_alignment\" INTEGER,\"group_segment_size\" INTEGER,"
	      "\"private_segment_size\" INTEGER,\"sgpr_count\" INTEGER,"
	      "\"arch_vgpr_count\" INTEGER,\"accum_vgpr_count\" INTEGER," EXTRA },
	{ "track", "\"nid\" INTEGER NOT NULL,\"pid\" INTEGER,\"tid\" INTEGER,"
		   "\"name_id\" INTEGER," EXTRA },
	{ "event", "\"category_id\" INTEGER,\"stack_id\" INTEGER,\"parent_stack_id\" INTEGER,"
		   "\"correlation_id\" INTEGER,\"call_stack\" JSONB DEFAULT '{}' NOT NULL,"
		   "\"line_info\" JSONB DEFAULT '{}' NOT NULL," EXTRA },
	{ "arg", "\"event_id\" INTEGER NOT NULL,\"position\" INTEGER NOT NULL,"
		 "\"type\" TEXT NOT NULL,\"name\" TEXT NOT NULL,\"value\" TEXT," EXTRA },
	{ "pmc_event", "\"event_id\" INTEGER,\"pmc_id\" INTEGER NOT NULL,"
		       "\"value\" REAL DEFAULT 0.0,\"extdata\" JSONB DEFAULT '{}'" },
	{ "region", NID "\"tid\" INTEGER NOT NULL," TIMES
			"\"name_id\" INTEGER NOT NULL,\"event_id\" INTEGER," EXTRA },
	{ "sample", "\"track_id\" INTEGER NOT NULL,\"timestamp\" BIGINT NOT NULL,"
		    "\"event_id\" INTEGER," EXTRA },
	{ "kernel_dispatch",
	  NID "\"tid\" INTEGER,\"agent_id\" INTEGER NOT NULL,\"kernel_id\" INTEGER NOT NULL,"
	      "\"dispatch_id\" INTEGER NOT NULL,\"queue_id\" INTEGER NOT NULL,"
	      "\"stream_id\" INTEGER NOT NULL," TIMES
	      "\"private_segment_size\" INTEGER,\"group_segment_size\" INTEGER,"
	      "\"workgroup_size_x\" INTEGER NOT NULL,\"workgroup_size_y\" INTEGER NOT NULL,"
	      "\"workgroup_size_z\" INTEGER NOT NULL,\"grid_size_x\" INTEGER NOT NULL,"
	      "\"grid_size_y\" INTEGER NOT NULL,\"grid_size_z\" INTEGER NOT NULL,"
	      "\"region_name_id\" INTEGER,\"event_id\" INTEGER," EXTRA },
	{ "memory_copy",
	  NID "\"tid\" INTEGER," TIMES "\"name_id\" INTEGER NOT NULL,\"dst_agent_id\" INTEGER,"
	      "\"dst_address\" INTEGER,\"src_agent_id\" INTEGER,"
	      "\"src_address\" INTEGER,\"size\" INTEGER NOT NULL,"
	      "\"queue_id\" INTEGER,\"stream_id\" INTEGER,"
	      "\"region_name_id\" INTEGER,\"event_id\" INTEGER," EXTRA },
	{ "memory_allocate",
	  NID "\"tid\" INTEGER,\"agent_id\" INTEGER,"
	      "\"type\" TEXT CHECK(\"type\" IN ('ALLOC','FREE','REALLOC','RECLAIM')),"
	      "\"level\" TEXT CHECK(\"level\" IN ('REAL','VIRTUAL','SCRATCH'))," TIMES
	      "\"address\" INTEGER,\"size\" INTEGER NOT NULL,\"queue_id\" INTEGER,"
	      "\"stream_id\" INTEGER,\"event_id\" INTEGER," EXTRA },
};

/* The data views that people query; every join is on id and guid. */
static const char *const views[] = {
	"CREATE VIEW kernels AS SELECT K.id,K.guid,T.tid,"
	"(SELECT string FROM rocpd_string R JOIN rocpd_event E ON R.id=E.category_id"
	" WHERE E.id=K.event_id AND E.guid=K.guid) AS category,R.string AS region,"
	"S.display_name AS name,K.nid,P.pid,A.absolute_index AS agent_abs_index,"
	"A.logical_index AS agent_log_index,A.type_index AS agent_type_index,A.type AS agent_type,"
	"S.code_object_id,K.kernel_id,K.dispatch_id,K.stream_id,K.queue_id,Q.name AS queue,"
	"ST.name AS stream,K.start,K.end,(K.end-K.start) AS duration,K.grid_size_x AS grid_x,"
	"K.grid_size_y AS grid_y,K.grid_size_z AS grid_z,K.workgroup_size_x AS workgroup_x,"
	"K.workgroup_size_y AS workgroup_y,K.workgroup_size_z AS workgroup_z,"
	"K.group_segment_size AS lds_size,K.private_segment_size AS scratch_size,"
	"S.arch_vgpr_count AS vgpr_count,S.accum_vgpr_count,S.sgpr_count,"
	"S.group_segment_size AS static_lds_size,S.private_segment_size AS static_scratch_size,"
	"E.stack_id,E.parent_stack_id,E.correlation_id AS corr_id FROM rocpd_kernel_dispatch K"
	" INNER JOIN rocpd_info_agent A ON A.id=K.agent_id AND A.guid=K.guid"
	" INNER JOIN rocpd_event E ON E.id=K.event_id AND E.guid=K.guid"
	" INNER JOIN rocpd_string R ON R.id=K.region_name_id AND R.guid=K.guid"
	" INNER JOIN rocpd_info_kernel_symbol S ON S.id=K.kernel_id AND S.guid=K.guid"
	" LEFT JOIN rocpd_info_stream ST ON ST.id=K.stream_id AND ST.guid=K.guid"
	" LEFT JOIN rocpd_info_queue Q ON Q.id=K.queue_id AND Q.guid=K.guid"
	" INNER JOIN rocpd_info_process P ON P.id=K.pid AND P.guid=K.guid"
	" INNER JOIN rocpd_info_thread T ON T.id=K.tid AND T.guid=K.guid",
	"CREATE VIEW pmc_events AS SELECT P.id,P.guid,P.pmc_id,E.id AS event_id,"
	"S.display_name AS name,K.nid,K.pid,K.dispatch_id,K.start,K.end,"
	"(K.end-K.start) AS duration,I.name AS counter_name,P.value AS counter_value"
	" FROM rocpd_pmc_event P INNER JOIN rocpd_event E ON E.id=P.event_id AND E.guid=P.guid"
	" INNER JOIN rocpd_kernel_dispatch K ON K.event_id=E.id AND K.guid=E.guid"
	" INNER JOIN rocpd_info_pmc I ON I.id=P.pmc_id AND I.guid=P.guid"
	" INNER JOIN rocpd_info_kernel_symbol S ON S.id=K.kernel_id AND S.guid=K.guid",
	"CREATE VIEW counters_collection AS SELECT MIN(P.id) AS id,P.guid,K.dispatch_id,K.kernel_id,"
	"E.id AS event_id,E.correlation_id,E.stack_id,K.pid,K.tid,K.agent_id,K.queue_id,"
	"S.display_name AS kernel_name,I.name AS counter_name,I.block,I.expression,"
	"SUM(P.value) AS value,K.start,K.end,I.is_derived,(K.end-K.start) AS duration"
	" FROM rocpd_pmc_event P INNER JOIN rocpd_event E ON E.id=P.event_id AND E.guid=P.guid"
	" INNER JOIN rocpd_kernel_dispatch K ON K.event_id=E.id AND K.guid=E.guid"
	" INNER JOIN rocpd_info_pmc I ON I.id=P.pmc_id AND I.guid=P.guid"
	" INNER JOIN rocpd_info_kernel_symbol S ON S.id=K.kernel_id AND S.guid=K.guid"
	" GROUP BY P.guid,K.dispatch_id,I.name,K.agent_id",
	"CREATE VIEW memory_copies AS SELECT M.id,M.guid,M.nid,M.pid,M.tid,M.start,M.end,"
	"(M.end-M.start) AS duration,S.string AS name,M.stream_id,M.queue_id,M.size,"
	"D.name AS dst_device,D.absolute_index AS dst_agent_abs_index,"
	"F.name AS src_device,F.absolute_index AS src_agent_abs_index"
	" FROM rocpd_memory_copy M INNER JOIN rocpd_string S ON S.id=M.name_id AND S.guid=M.guid"
	" LEFT JOIN rocpd_info_agent D ON D.id=M.dst_agent_id AND D.guid=M.guid"
	" LEFT JOIN rocpd_info_agent F ON F.id=M.src_agent_id AND F.guid=M.guid",
	"CREATE VIEW regions AS SELECT R.id,R.guid,C.string AS category,S.string AS name,R.nid,"
	"R.pid,R.tid,R.start,R.end,(R.end-R.start) AS duration,R.event_id,E.stack_id,"
	"E.parent_stack_id,E.correlation_id AS corr_id,E.extdata,E.call_stack,E.line_info"
	" FROM rocpd_region R INNER JOIN rocpd_event E ON E.id=R.event_id AND E.guid=R.guid"
	" INNER JOIN rocpd_string C ON C.id=E.category_id AND C.guid=R.guid"
	" INNER JOIN rocpd_string S ON S.id=R.name_id AND S.guid=R.guid",
	"CREATE VIEW top_kernels AS SELECT S.display_name AS name,COUNT(*) AS total_calls,"
	"SUM(K.end-K.start)/1000.0 AS total_duration,AVG(K.end-K.start)/1000.0 AS average,"
	"SUM(K.end-K.start)*100.0/(SELECT SUM(end-start) FROM rocpd_kernel_dispatch) AS percentage"
	" FROM rocpd_kernel_dispatch K INNER JOIN rocpd_info_kernel_symbol S ON S.id=K.kernel_id"
	" AND S.guid=K.guid GROUP BY name ORDER BY total_duration DESC",
	"CREATE VIEW processes AS SELECT N.id AS nid,N.machine_id,N.system_name,N.hostname,P.guid,"
	"P.ppid,P.pid,P.init,P.start,P.end,P.fini,P.command FROM rocpd_info_process P"
	" INNER JOIN rocpd_info_node N ON N.id=P.nid AND N.guid=P.guid",
};

static void metadata(struct db *db, const char *tag, const char *value)
{
	db_insert(db, "metadata", "tag,value", "%Q,%Q", tag, value);
}

void rocpd_schema(struct db *db)
{
	sql_run(db,
		"CREATE TABLE \"rocpd_metadata%s\"(\"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,"
		"\"tag\" TEXT NOT NULL,\"value\" TEXT NOT NULL)",
		db->uuid);
	sql_run(db, "CREATE VIEW rocpd_metadata AS SELECT * FROM \"rocpd_metadata%s\"", db->uuid);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		sql_run(db,
			"CREATE TABLE \"rocpd_%s%s\"(\"id\" INTEGER NOT NULL PRIMARY KEY "
			"AUTOINCREMENT,\"guid\" TEXT DEFAULT '%s' NOT NULL,%s)",
			tables[i][0], db->uuid, db->guid, tables[i][1]);
		sql_run(db, "CREATE VIEW rocpd_%s AS SELECT * FROM \"rocpd_%s%s\"", tables[i][0],
			tables[i][0], db->uuid);
	}
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		sql_run(db, "%s", views[i]);
	metadata(db, "schema_version", sim.release >= REL_713 ? "3.0.0" : "3");
	metadata(db, "uuid", db->uuid);
	metadata(db, "guid", db->guid);
}
