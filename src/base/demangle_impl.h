/* demangle_impl.h - the tree between the two halves of the demangler: parsing and printing. */
#ifndef RK_DEMANGLE_IMPL_H
#define RK_DEMANGLE_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum kind {
	NAME,      /* text */
	NUMBER,    /* num */
	QUALIFIED, /* a::b */
	LOCAL,     /* a::b, a is the encoding of a function */
	TYPED,     /* name a, function type b */
	TEMPLATE,  /* a<b> */
	PARAM,     /* template parameter num */
	FUNCTION_PARAM,
	CTOR, /* of the class named a */
	DTOR,
	SPECIAL,     /* text in front of a */
	IN_TABLE,    /* construction vtable for a-in-b */
	CV,          /* text " const" after a */
	THIS,        /* the same, of a member function's name */
	POINTER,     /* text "*", "&" or "&&" after a */
	COMPLEX,     /* text " _Complex" after a */
	BUILTIN,     /* text; num: how literals are printed */
	FUNCTION,    /* result a or NULL, arguments b */
	ARRAY,       /* size a or NULL, elements b */
	VECTOR,      /* size a, elements b */
	MEMBER,      /* pointer to member b of class a */
	LIST,        /* a, then the LIST b */
	PACK,        /* template arguments a (LIST) */
	OPERATOR,    /* op */
	CONVERSION,  /* operator a */
	LITERAL_OP,  /* operator"" a */
	UNARY,       /* op a */
	POSTFIX,     /* a op */
	BINARY,      /* a op b */
	TERNARY,     /* a, then LIST b, c */
	CAST,        /* (a) b */
	LITERAL,     /* of type a: text; num: negative */
	LAMBDA,      /* arguments a, num */
	UNNAMED,     /* num */
	DEFAULT_ARG, /* num, entity a */
	EXPANSION,   /* pattern a... */
	DECLTYPE,
	INIT,    /* type a or NULL, values b */
	FOLD,    /* num: letter of the fold, op, operands a, b */
	TAGGED,  /* a[abi:b] */
	BINDING, /* [a, b] */
	CLONE,   /* a [clone text] */
};

/* How literals of a builtin type are printed; others have their type in front. */
enum literal_style {
	PLAIN_TYPE,
	AS_INT,
	AS_UNSIGNED,
	AS_LONG,
	AS_ULONG,
	AS_LLONG,
	AS_ULLONG,
	AS_BOOL,
	AS_FLOAT
};

/* What is parsed after an operator of an expression. */
enum operands {
	UNKNOWN, /* the operator is only part of names */
	NOTHING,
	TYPE,
	VALUE,
	STEP,
	VALUES,
	TYPE_VALUE,
	VALUE_VALUE,
	VALUE_VALUES,
	VALUE_NAME,
	THREE_VALUES,
};

struct op {
	char code[3];
	enum operands operands;
	const char *text;
};

struct node {
	enum kind kind;
	uint32_t len;
	const char *text;
	const struct node *a, *b;
	const struct op *op;
	int64_t num;
};

enum { DEMANGLE_MAX_DEPTH = 400 };

/* Appends the text of the tree. False, and part of the text may be there, when it grows too long. */
bool rk_demangle_print(const struct node *n, struct rk_bytes *out);

#endif
