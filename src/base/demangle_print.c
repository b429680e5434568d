/*
 * demangle_print.c - the text of a C++ symbol name from its tree.
 *
 * Types are printed in two halves, because a declarator is in the middle of its type: `void (*` and
 * `)(int)`. A few hundred bytes of a name can mean gigabytes of text, or endless time without any:
 * text, depth and steps have limits.
 */
#include <stdio.h>
#include <string.h>

#include "base/demangle_impl.h"

enum { MAX_TEXT = 64 << 10, MAX_STEPS = 1 << 20 };

struct scope {
	const struct node *template;
	const struct scope *outer;
};

struct printer {
	struct rk_bytes *out;
	size_t start, steps;
	unsigned depth;
	const struct scope *scope;
	const struct node *template; /* the one whose name is printed, for conversions */
	int64_t pack;                /* which element of packs, in an expansion */
	bool in_lambda;
	char last; /* the last one that was put, even if it was taken back */
	bool bad;
};

static void print(struct printer *p, const struct node *n);
static void print_right(struct printer *p, const struct node *n);

static void put(struct printer *p, const char *text, size_t len)
{
	if (p->bad)
		return;
	rk_bytes_put(p->out, text, len);
	if (len)
		p->last = text[len - 1];
	if (p->out->bad || p->out->len - p->start > MAX_TEXT)
		p->bad = true;
}

static void put_word(struct printer *p, const char *word)
{
	put(p, word, strlen(word));
}

static bool step(struct printer *p)
{
	if (++p->steps > MAX_STEPS)
		p->bad = true;
	return !p->bad;
}

/* One step down the tree; false when a limit is passed. Each is ended by p->depth--. */
static bool enter(struct printer *p)
{
	if (p->depth >= 2 * DEMANGLE_MAX_DEPTH)
		p->bad = true;
	if (!step(p))
		return false;
	p->depth++;
	return true;
}

static const struct node *item_of(struct printer *p, const struct node *list, int64_t i)
{
	while (list && i-- > 0 && step(p))
		list = list->b;
	return list ? list->a : NULL;
}

/* The argument of a template parameter; NULL if unknown. A PACK when no expansion is under way. */
static const struct node *argument(struct printer *p, const struct node *param)
{
	const struct node *a;

	if (!p->scope)
		return NULL;
	a = item_of(p, p->scope->template->b->a, param->num);
	if (a && a->kind == PACK && p->pack >= 0)
		a = item_of(p, a->a, p->pack);
	return a;
}

/* What replaces a parameter, else the node itself. */
static const struct node *resolve(struct printer *p, const struct node *n)
{
	if (n && n->kind == PARAM && !p->in_lambda) {
		const struct node *a = argument(p, n);

		return a ? a : n;
	}
	return n;
}

/* Prints with the scope that is outside the current template: its arguments belong there. */
#define OUTSIDE(p, call)                                  \
	do {                                              \
		const struct scope *inner = (p)->scope;   \
		(p)->scope = inner ? inner->outer : NULL; \
		call;                                     \
		(p)->scope = inner;                       \
	} while (0)

static void print_list(struct printer *p, const struct node *list)
{
	size_t end = p->out->len;

	for (; list && !p->bad; list = list->b) {
		size_t before = p->out->len;

		print(p, list->a);
		if (p->out->len > before)
			end = p->out->len;
		if (list->b)
			put_word(p, ", ");
	}
	/* empty packs at the end have no comma */
	if (!p->bad)
		p->out->len = end;
}

/* The kind below parameters and qualifiers and, with `pointers`, below what points to it. */
static enum kind kind_below(struct printer *p, const struct node *n, bool pointers)
{
	const struct scope *scope = p->scope;

	while (step(p)) {
		if (n->kind == PARAM && !p->in_lambda) {
			const struct node *a = argument(p, n);

			if (!a)
				break;
			p->scope = p->scope->outer;
			n = a;
		} else if (n->kind == CV || n->kind == THIS ||
			   (pointers && (n->kind == POINTER || n->kind == COMPLEX))) {
			n = n->a;
		} else if (pointers && n->kind == MEMBER) {
			n = n->b;
		} else {
			break;
		}
	}
	p->scope = scope;
	return n->kind;
}

/* Whether a type has a second half: functions and arrays, and what points to them. */
static bool has_right(struct printer *p, const struct node *n)
{
	enum kind kind = kind_below(p, n, true);

	return kind == FUNCTION || kind == ARRAY;
}

static void print_qualifier(struct printer *p, const struct node *n)
{
	put(p, n->text, n->len);
	if (!n->b)
		return;
	if (n->kind == THIS) {
		put_word(p, "(");
		print(p, n->b);
		put_word(p, ")");
	} else {
		print(p, n->b);
	}
}

/*
 * & and && on a reference: & wins. NULL when `n` is printed as it is; else the reference to print
 * instead, or what it refers to when `n` is then printed after it.
 */
static const struct node *collapsed(struct printer *p, const struct node *n)
{
	const struct node *sub = resolve(p, n->a);

	if (sub->kind != POINTER || n->text[0] != '&' || sub->text[0] != '&')
		return NULL;
	return sub->len == 1 || n->len == 2 ? sub : sub->a;
}

static void print_left(struct printer *p, const struct node *n);

/* One half of `n`, which is `below` or what replaces the parameter `below`. */
static void print_resolved(struct printer *p, const struct node *n, const struct node *below,
			   void (*half)(struct printer *p, const struct node *n))
{
	if (below->kind == PARAM)
		OUTSIDE(p, half(p, n));
	else
		half(p, n);
}

static void print_pointer_left(struct printer *p, const struct node *n)
{
	const struct node *sub = collapsed(p, n);

	if (sub) {
		print_resolved(p, sub, n->a, print_left);
		if (sub->kind == POINTER && sub->text[0] == '&')
			return;
	} else {
		enum kind below;

		print_left(p, n->a);
		below = kind_below(p, n->a, false);
		if (below == ARRAY)
			put_word(p, " (");
		else if (below == FUNCTION)
			put_word(p, "(");
	}
	put(p, n->text, n->len);
}

static void print_pointer_right(struct printer *p, const struct node *n)
{
	const struct node *sub = collapsed(p, n);

	if (sub) {
		print_resolved(p, sub, n->a, print_right);
	} else {
		if (kind_below(p, n->a, false) == ARRAY || kind_below(p, n->a, false) == FUNCTION)
			put_word(p, ")");
		print_right(p, n->a);
	}
}

/* The second half of types; nothing for the others. */
static void print_right(struct printer *p, const struct node *n)
{
	if (!n || !enter(p))
		return;
	switch (n->kind) {
	case PARAM:
		if (!p->in_lambda) {
			const struct node *a = argument(p, n);

			if (a && a->kind != PACK)
				OUTSIDE(p, print_right(p, a));
		}
		break;
	case CV:
	case THIS:
		print_right(p, n->a);
		if (kind_below(p, n->a, false) == FUNCTION)
			print_qualifier(p, n);
		break;
	case COMPLEX:
		print_right(p, n->a);
		break;
	case POINTER:
		print_pointer_right(p, n);
		break;
	case MEMBER:
		if (kind_below(p, n->b, false) == FUNCTION || kind_below(p, n->b, false) == ARRAY)
			put_word(p, ")");
		print_right(p, n->b);
		break;
	case FUNCTION: {
		int64_t pack = p->pack;

		put_word(p, "(");
		print_list(p, n->b);
		put_word(p, ")");
		p->pack = pack;
		print_right(p, n->a);
		break;
	}
	case ARRAY:
		if (p->last != ']')
			put_word(p, " ");
		put_word(p, "[");
		if (n->a)
			print(p, n->a);
		put_word(p, "]");
		print_right(p, n->b);
		break;
	default:
		break;
	}
	p->depth--;
}

static void print_subexpression(struct printer *p, const struct node *n)
{
	bool simple = n->kind == NAME || n->kind == QUALIFIED || n->kind == INIT ||
		      n->kind == FUNCTION_PARAM;

	if (!simple)
		put_word(p, "(");
	print(p, n);
	if (!simple)
		put_word(p, ")");
}

static void print_number(struct printer *p, int64_t v)
{
	char text[24];

	put(p, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)v));
}

static void print_literal(struct printer *p, const struct node *n)
{
	static const char *const suffix[] = { [AS_UNSIGNED] = "u",
					      [AS_LONG] = "l",
					      [AS_ULONG] = "ul",
					      [AS_LLONG] = "ll",
					      [AS_ULLONG] = "ull" };
	enum literal_style style = PLAIN_TYPE;

	if (n->a->kind == BUILTIN && !n->a->b)
		style = (enum literal_style)n->a->num;
	if (style == AS_BOOL && n->len == 1 && !n->num &&
	    (n->text[0] == '0' || n->text[0] == '1')) {
		put_word(p, n->text[0] == '0' ? "false" : "true");
		return;
	}
	if (style == PLAIN_TYPE || style == AS_FLOAT || style == AS_BOOL) {
		put_word(p, "(");
		print(p, n->a);
		put_word(p, ")");
	}
	if (n->num)
		put_word(p, "-");
	if (style == AS_FLOAT || (n->a->kind == BUILTIN && n->a->num == AS_FLOAT))
		put_word(p, "[");
	put(p, n->text, n->len);
	if (style == AS_FLOAT || (n->a->kind == BUILTIN && n->a->num == AS_FLOAT))
		put_word(p, "]");
	if (style > AS_INT && style < AS_BOOL)
		put_word(p, suffix[style]);
}

/* The pack that an expansion runs over: the first parameter below n that is one. */
static const struct node *find_pack(struct printer *p, const struct node *n)
{
	const struct node *found = NULL;

	if (!n || !enter(p))
		return NULL;
	if (n->kind == PARAM) {
		const struct node *a = p->scope ? item_of(p, p->scope->template->b->a, n->num) :
						  NULL;

		if (a && a->kind == PACK)
			found = a;
	} else if (n->kind != EXPANSION && n->kind != LAMBDA && n->kind != NAME &&
		   n->kind != BUILTIN) {
		found = find_pack(p, n->a);
		if (!found)
			found = find_pack(p, n->b);
	}
	p->depth--;
	return found;
}

static void print_expansion(struct printer *p, const struct node *n)
{
	const struct node *pack = p->in_lambda ? NULL : find_pack(p, n->a);
	int64_t before = p->pack, i = 0;

	if (!pack) {
		print_subexpression(p, n->a);
		put_word(p, "...");
		return;
	}
	for (const struct node *l = pack->a; l && !p->bad; l = l->b, i++) {
		if (i)
			put_word(p, ", ");
		p->pack = i;
		print(p, n->a);
	}
	p->pack = before;
}

static void print_fold(struct printer *p, const struct node *n)
{
	const char *op = n->op->text;

	put_word(p, "(");
	if (n->num == 'l' || n->num == 'L') {
		if (n->num == 'L') {
			print_subexpression(p, n->a);
			put_word(p, op);
		}
		put_word(p, "...");
		put_word(p, op);
		print_subexpression(p, n->num == 'L' ? n->b : n->a);
	} else {
		print_subexpression(p, n->a);
		put_word(p, op);
		put_word(p, "...");
		if (n->num == 'R') {
			put_word(p, op);
			print_subexpression(p, n->b);
		}
	}
	put_word(p, ")");
}

static void print_unary(struct printer *p, const struct node *n)
{
	const struct node *a = n->a;

	if (memcmp(n->op->code, "ad", 2) == 0 && a->kind == TYPED && a->a->kind == QUALIFIED)
		a = a->a;
	if (memcmp(n->op->code, "sZ", 2) == 0 || memcmp(n->op->code, "sP", 2) == 0) {
		const struct node *pack = find_pack(p, a);

		if (pack) {
			int64_t count = 0;

			for (const struct node *l = pack->a; l; l = l->b)
				count++;
			print_number(p, count);
			return;
		}
	}
	put_word(p, n->op->text);
	if (memcmp(n->op->code, "gs", 2) == 0) {
		print(p, a);
	} else if (memcmp(n->op->code, "st", 2) == 0 || memcmp(n->op->code, "nx", 2) == 0) {
		put_word(p, "(");
		print(p, a);
		put_word(p, ")");
	} else {
		print_subexpression(p, a);
	}
}

static void print_binary(struct printer *p, const struct node *n)
{
	const char *code = n->op->code;
	bool wrap = strcmp(n->op->text, ">") == 0;

	if (code[1] == 'c' && strchr("cdrs", code[0])) { /* static_cast<a>(b) */
		put_word(p, n->op->text);
		put_word(p, "<");
		print(p, n->a);
		put_word(p, ">(");
		print(p, n->b);
		put_word(p, ")");
		return;
	}
	if (wrap)
		put_word(p, "(");
	if (memcmp(code, "cl", 2) == 0 && n->a->kind == TYPED)
		print_subexpression(p, n->a->a);
	else
		print_subexpression(p, n->a);
	if (memcmp(code, "ix", 2) == 0) {
		put_word(p, "[");
		print(p, n->b);
		put_word(p, "]");
	} else {
		if (memcmp(code, "cl", 2) != 0)
			put_word(p, n->op->text);
		print_subexpression(p, n->b);
	}
	if (wrap)
		put_word(p, ")");
}

/* Those of a member function, the inner ones first. */
static void print_qualifiers(struct printer *p, const struct node *n)
{
	if (n->kind != THIS || !enter(p))
		return;
	print_qualifiers(p, n->a);
	print_qualifier(p, n);
	p->depth--;
}

/* A function: result, name, arguments, qualifiers. */
static void print_typed(struct printer *p, const struct node *n, bool with_result)
{
	const struct node *name = n->a, *decl = n->a, *f = n->b;
	struct scope scope;
	const struct scope *outer = p->scope;
	int64_t pack = p->pack;

	while (decl->kind == THIS || decl->kind == LOCAL || decl->kind == DEFAULT_ARG)
		decl = decl->kind == LOCAL ? decl->b : decl->a;
	if (decl->kind == TEMPLATE) {
		scope = (struct scope){ .template = decl, .outer = p->scope };
		p->scope = &scope;
	}
	while (name->kind == THIS)
		name = name->a;
	p->pack = -1;
	if (f->a && with_result) {
		print_left(p, f->a);
		if (!has_right(p, f->a))
			put_word(p, " ");
	}
	if (decl->kind == TEMPLATE)
		OUTSIDE(p, print(p, name));
	else
		print(p, name);
	put_word(p, "(");
	print_list(p, f->b);
	put_word(p, ")");
	print_qualifiers(p, n->a->kind == LOCAL ? n->a->b : n->a);
	if (f->a && with_result)
		print_right(p, f->a);
	p->scope = outer;
	p->pack = pack;
}

static void print_template_args(struct printer *p, const struct node *args)
{
	int64_t pack = p->pack;

	if (p->last == '<')
		put_word(p, " ");
	put_word(p, "<");
	print_list(p, args->a);
	p->pack = pack;
	if (p->last == '>')
		put_word(p, " ");
	put_word(p, ">");
}

/* What is inside a function. */
static void print_local(struct printer *p, const struct node *n)
{
	const struct node *entity = n->b;

	if (n->a->kind == TYPED)
		print_typed(p, n->a, false);
	else
		print(p, n->a);
	put_word(p, "::");
	if (entity->kind == DEFAULT_ARG) {
		put_word(p, "{default arg#");
		print_number(p, entity->num);
		put_word(p, "}::");
		entity = entity->a;
	}
	while (entity->kind == THIS)
		entity = entity->a;
	print(p, entity);
}

/* operator T: T may be a parameter of the template that the operator is. */
static void print_conversion(struct printer *p, const struct node *n)
{
	struct scope scope = { .template = p->template, .outer = p->scope };

	put_word(p, "operator ");
	if (p->template) {
		p->scope = &scope;
		print(p, n->a);
		p->scope = scope.outer;
	} else {
		print(p, n->a);
	}
}

/* Parameters of a generic lambda have no names: auto:1, auto:2. */
static void print_lambda(struct printer *p, const struct node *n)
{
	bool before = p->in_lambda;

	put_word(p, "{lambda(");
	p->in_lambda = true;
	print_list(p, n->a);
	p->in_lambda = before;
	put_word(p, ")#");
	print_number(p, n->num);
	put_word(p, "}");
}

/* Names and what is in them. False if `n` is something else. */
static bool print_name(struct printer *p, const struct node *n)
{
	switch (n->kind) {
	case NAME:
		put(p, n->text, n->len);
		break;
	case QUALIFIED:
		print(p, n->a);
		put_word(p, "::");
		print(p, n->b);
		break;
	case LOCAL:
		print_local(p, n);
		break;
	case TYPED:
		print_typed(p, n, true);
		break;
	case TEMPLATE: {
		const struct node *before = p->template;

		p->template = n;
		print(p, n->a);
		p->template = before;
		print_template_args(p, n->b);
		break;
	}
	case DTOR:
		put_word(p, "~");
		print(p, n->a);
		break;
	case CTOR:
		print(p, n->a);
		break;
	case SPECIAL:
		put(p, n->text, n->len);
		if (n->text[n->len - 1] == '#') {
			print_number(p, n->num);
			put_word(p, " for ");
		}
		print(p, n->a);
		break;
	case IN_TABLE:
		put_word(p, "construction vtable for ");
		print(p, n->a);
		put_word(p, "-in-");
		print(p, n->b);
		break;
	case OPERATOR:
		put_word(p, "operator");
		if (n->op->text[0] >= 'a' && n->op->text[0] <= 'z')
			put_word(p, " ");
		put_word(p, n->op->text);
		if (p->last == ' ')
			p->out->len--;
		break;
	case CONVERSION:
		print_conversion(p, n);
		break;
	case LITERAL_OP:
		put_word(p, "operator\"\" ");
		print(p, n->a);
		break;
	case LAMBDA:
		print_lambda(p, n);
		break;
	case UNNAMED:
		put_word(p, "{unnamed type#");
		print_number(p, n->num);
		put_word(p, "}");
		break;
	case DEFAULT_ARG:
		print(p, n->a);
		break;
	case TAGGED:
		print(p, n->a);
		put_word(p, "[abi:");
		print(p, n->b);
		put_word(p, "]");
		break;
	case BINDING:
		put_word(p, "[");
		print_list(p, n->a);
		put_word(p, "]");
		break;
	case CLONE:
		print(p, n->a);
		put_word(p, " [clone ");
		put(p, n->text, n->len);
		put_word(p, "]");
		break;
	default:
		return false;
	}
	return true;
}

/* The first half of a type; all of a list. False if `n` is something else. */
static bool print_type(struct printer *p, const struct node *n)
{
	const struct node *a;

	switch (n->kind) {
	case BUILTIN:
		put(p, n->text, n->len);
		if (n->b)
			print(p, n->b);
		break;
	case PARAM:
		if (p->in_lambda) {
			put_word(p, "auto:");
			print_number(p, n->num + 1);
			break;
		}
		a = argument(p, n);
		if (!a)
			p->bad = true;
		else
			OUTSIDE(p, print_left(p, a));
		break;
	case CV:
	case THIS:
		print_left(p, n->a);
		if (kind_below(p, n->a, false) == FUNCTION)
			break;
		a = resolve(p, n->a);
		if (a != n->a && a->kind == CV && a->len == n->len &&
		    memcmp(a->text, n->text, n->len) == 0 && !a->b && !n->b)
			break; /* const of a const argument */
		print_qualifier(p, n);
		break;
	case COMPLEX:
		print_left(p, n->a);
		put(p, n->text, n->len);
		break;
	case POINTER:
		print_pointer_left(p, n);
		break;
	case FUNCTION:
		if (n->a) {
			print_left(p, n->a);
			if (!has_right(p, n->a))
				put_word(p, " ");
		}
		break;
	case ARRAY:
		print_left(p, n->b);
		break;
	case VECTOR:
		print(p, n->b);
		put_word(p, " __vector(");
		print(p, n->a);
		put_word(p, ")");
		break;
	case MEMBER:
		print_left(p, n->b);
		if (kind_below(p, n->b, false) == FUNCTION)
			put_word(p, "(");
		else if (kind_below(p, n->b, false) == ARRAY)
			put_word(p, " (");
		else
			put_word(p, " ");
		print(p, n->a);
		put_word(p, "::*");
		break;
	case LIST:
		print_list(p, n);
		break;
	case PACK:
		print_list(p, n->a);
		break;
	case EXPANSION:
		print_expansion(p, n);
		break;
	case DECLTYPE:
		put_word(p, "decltype (");
		print(p, n->a);
		put_word(p, ")");
		break;
	default:
		return false;
	}
	return true;
}

/* Expressions. False if `n` is something else. */
static bool print_value(struct printer *p, const struct node *n)
{
	switch (n->kind) {
	case NUMBER:
		print_number(p, n->num);
		put_word(p, n->text);
		break;
	case FUNCTION_PARAM:
		if (n->num) {
			put_word(p, "{parm#");
			print_number(p, n->num);
			put_word(p, "}");
		} else {
			put_word(p, "this");
		}
		break;
	case UNARY:
		print_unary(p, n);
		break;
	case POSTFIX:
		print_subexpression(p, n->a);
		put_word(p, n->op->text);
		break;
	case BINARY:
		print_binary(p, n);
		break;
	case TERNARY:
		print_subexpression(p, n->a);
		put_word(p, n->op->text);
		print_subexpression(p, n->b->a);
		put_word(p, " : ");
		print_subexpression(p, n->b->b);
		break;
	case CAST:
		put_word(p, "(");
		print(p, n->a);
		put_word(p, ")");
		print_subexpression(p, n->b);
		break;
	case LITERAL:
		print_literal(p, n);
		break;
	case INIT:
		if (n->a)
			print(p, n->a);
		put_word(p, "{");
		print_list(p, n->b);
		put_word(p, "}");
		break;
	case FOLD:
		print_fold(p, n);
		break;
	default:
		return false;
	}
	return true;
}

/* Types: the first half. Everything else: the whole. */
static void print_left(struct printer *p, const struct node *n)
{
	if (!n || !enter(p))
		return;
	if (!print_name(p, n) && !print_type(p, n))
		print_value(p, n);
	p->depth--;
}

static void print(struct printer *p, const struct node *n)
{
	print_left(p, n);
	print_right(p, n);
}

bool rk_demangle_print(const struct node *n, struct rk_bytes *out)
{
	struct printer p = { .out = out, .start = out->len, .pack = -1 };

	print(&p, n);
	return !p.bad;
}
