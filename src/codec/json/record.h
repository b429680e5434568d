/*
 * record.h - read selected fields of one JSON object, by path; everything else is skipped.
 *
 * "dispatch_info/agent_id/handle" is three keys deep; a part that is a number is also an index into
 * an array ("args/grid/0"). If a key occurs twice, the last one counts.
 */
#ifndef RK_JSON_RECORD_H
#define RK_JSON_RECORD_H

#include "base/bytes.h"
#include "codec/json/stream.h"

/* Numbers may be in quotes. */
enum rk_json_type {
	RK_JSON_AS_I64,
	RK_JSON_AS_U64,   /* decimal or "0x..."; the 64 bits are in `i` */
	RK_JSON_AS_F64,   /* in `f` */
	RK_JSON_AS_MICRO, /* decimal microseconds, in `i` as nanoseconds, exactly */
	RK_JSON_AS_TEXT,  /* string, or a number or word as written */
	RK_JSON_AS_JOIN,  /* array of those, with blanks between them */
	RK_JSON_AS_LIST,  /* array that is passed to `list` */
};

struct rk_json_field {
	const char *path;
	enum rk_json_type type;
	bool decide;     /* call `keep` once this is known */
	uint64_t serves; /* for the caller: which columns need it */
};

enum rk_json_has {
	RK_JSON_ABSENT, /* not there, or null */
	RK_JSON_HAS,
	RK_JSON_WRONG, /* cannot be read as its type */
	RK_JSON_RANGE, /* does not fit in 64 bits */
};

struct rk_json_value {
	enum rk_json_has has;
	union {
		int64_t i;
		double f;
		struct {
			uint32_t at, len; /* in the record's text */
		};
	};
};

enum { RK_JSON_FIELDS_MAX = 40, RK_JSON_NODES_MAX = 80 };

struct rk_json_node {
	const char *key;
	unsigned len;
	int index;           /* the key as a number, -1 if it is not one */
	int slot;            /* field, -1 for none */
	uint8_t first, last; /* linked list of children; 0: none, as node 0 is the root */
	uint8_t sibling;
	uint8_t hint; /* child that probably comes next */
};

struct rk_json_record {
	struct rk_json_node nodes[RK_JSON_NODES_MAX];
	unsigned nnodes;
	const struct rk_json_field *fields;
	unsigned nfields;
	struct rk_json_value values[RK_JSON_FIELDS_MAX];
	struct rk_bytes text;
	/* Whether the rest of the object is wanted; NULL: always. */
	bool (*keep)(void *arg, const struct rk_json_record *r);
	/* Reads the array that was just opened, including its end; for fields of type LIST. */
	int (*list)(void *arg, struct rk_json *j, struct rk_error *err);
	void *arg;
	bool dropped; /* `keep` returned false */
};

/*
 * Fields whose bit in `want` is 0 stay absent. `fields` is borrowed, at most RK_JSON_FIELDS_MAX.
 * Release also after a failed init.
 */
void rk_json_record_init(struct rk_json_record *r, const struct rk_json_field *fields, unsigned n,
			 uint64_t want);
void rk_json_record_release(struct rk_json_record *r);

/* Reads the object that was just opened, including its end. */
int rk_json_record_read(struct rk_json_record *r, struct rk_json *j, struct rk_error *err);

/*
 * Reads the next value: calls `each` after every object of an array (or after a single object); < 0
 * stops. Other values are skipped.
 */
int rk_json_record_each(struct rk_json_record *r, struct rk_json *j,
			int (*each)(void *arg, struct rk_json_record *r, struct rk_error *err),
			void *arg, struct rk_error *err);
/* The same for an array that was already opened. */
int rk_json_record_rest(struct rk_json_record *r, struct rk_json *j,
			int (*each)(void *arg, struct rk_json_record *r, struct rk_error *err),
			void *arg, struct rk_error *err);

/* The value of a text field; "" if absent. Borrowed until the next read, not terminated. */
static inline const char *rk_json_record_text(const struct rk_json_record *r, unsigned field)
{
	const struct rk_json_value *v = &r->values[field];

	return v->has == RK_JSON_HAS && v->len ? (const char *)r->text.data + v->at : "";
}

#endif
