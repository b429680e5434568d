/*
 * demangle.c - C++ symbol names to readable text (Itanium C++ ABI, section 5.1).
 *
 * A name is parsed into a tree (here) and the tree is printed (demangle_print.c). Template parameters
 * are looked up when they are printed: the same node of a substitution can mean different arguments
 * in different places. The text is that of GNU c++filt 2.40.
 *
 * Names are hostile. Nodes are bounded by the length of the name (also when a part is parsed twice),
 * and so is the time; depth has a limit of its own.
 */
#include "base/demangle.h"

#include <string.h>

#include "base/alloc.h"
#include "base/demangle_impl.h"
#include "base/text.h"

enum { MAX_NAME = 32 << 10 };

/* Sorted by code. */
static const struct op operators[] = {
	{ "aN", VALUE_VALUE, "&=" },
	{ "aS", VALUE_VALUE, "=" },
	{ "aa", VALUE_VALUE, "&&" },
	{ "ad", VALUE, "&" },
	{ "an", VALUE_VALUE, "&" },
	{ "at", TYPE, "alignof " },
	{ "aw", VALUE, "co_await " },
	{ "az", VALUE, "alignof " },
	{ "cc", TYPE_VALUE, "const_cast" },
	{ "cl", VALUE_VALUES, "()" },
	{ "cm", VALUE_VALUE, "," },
	{ "co", VALUE, "~" },
	{ "dV", VALUE_VALUE, "/=" },
	{ "dX", UNKNOWN, "[...]=" },
	{ "da", VALUE, "delete[] " },
	{ "dc", TYPE_VALUE, "dynamic_cast" },
	{ "de", VALUE, "*" },
	{ "di", VALUE_VALUE, "=" },
	{ "dl", VALUE, "delete " },
	{ "ds", VALUE_VALUE, ".*" },
	{ "dt", VALUE_NAME, "." },
	{ "dv", VALUE_VALUE, "/" },
	{ "dx", VALUE_VALUE, "]=" },
	{ "eO", VALUE_VALUE, "^=" },
	{ "eo", VALUE_VALUE, "^" },
	{ "eq", VALUE_VALUE, "==" },
	{ "fL", UNKNOWN, "..." },
	{ "fR", UNKNOWN, "..." },
	{ "fl", UNKNOWN, "..." },
	{ "fr", UNKNOWN, "..." },
	{ "ge", VALUE_VALUE, ">=" },
	{ "gs", VALUE, "::" },
	{ "gt", VALUE_VALUE, ">" },
	{ "ix", VALUE_VALUE, "[]" },
	{ "lS", VALUE_VALUE, "<<=" },
	{ "le", VALUE_VALUE, "<=" },
	{ "li", VALUE, "operator\"\" " },
	{ "ls", VALUE_VALUE, "<<" },
	{ "lt", VALUE_VALUE, "<" },
	{ "mI", VALUE_VALUE, "-=" },
	{ "mL", VALUE_VALUE, "*=" },
	{ "mi", VALUE_VALUE, "-" },
	{ "ml", VALUE_VALUE, "*" },
	{ "mm", STEP, "--" },
	{ "na", UNKNOWN, "new[]" },
	{ "ne", VALUE_VALUE, "!=" },
	{ "ng", VALUE, "-" },
	{ "nt", VALUE, "!" },
	{ "nw", UNKNOWN, "new" },
	{ "nx", VALUE, "noexcept" },
	{ "oR", VALUE_VALUE, "|=" },
	{ "oo", VALUE_VALUE, "||" },
	{ "or", VALUE_VALUE, "|" },
	{ "pL", VALUE_VALUE, "+=" },
	{ "pl", VALUE_VALUE, "+" },
	{ "pm", VALUE_VALUE, "->*" },
	{ "pp", STEP, "++" },
	{ "ps", VALUE, "+" },
	{ "pt", VALUE_NAME, "->" },
	{ "qu", THREE_VALUES, "?" },
	{ "rM", VALUE_VALUE, "%=" },
	{ "rS", VALUE_VALUE, ">>=" },
	{ "rc", TYPE_VALUE, "reinterpret_cast" },
	{ "rm", VALUE_VALUE, "%" },
	{ "rs", VALUE_VALUE, ">>" },
	{ "sP", VALUES, "sizeof..." },
	{ "sZ", VALUE, "sizeof..." },
	{ "sc", TYPE_VALUE, "static_cast" },
	{ "ss", VALUE_VALUE, "<=>" },
	{ "st", TYPE, "sizeof " },
	{ "sz", VALUE, "sizeof " },
	{ "te", VALUE, "typeid " },
	{ "ti", TYPE, "typeid " },
	{ "tr", NOTHING, "throw" },
	{ "tw", VALUE, "throw " },
};

/* By letter from 'a'. */
static const struct {
	const char *text;
	enum literal_style style;
} builtins[26] = {
	['a' - 'a'] = { "signed char", PLAIN_TYPE },
	['b' - 'a'] = { "bool", AS_BOOL },
	['c' - 'a'] = { "char", PLAIN_TYPE },
	['d' - 'a'] = { "double", AS_FLOAT },
	['e' - 'a'] = { "long double", AS_FLOAT },
	['f' - 'a'] = { "float", AS_FLOAT },
	['g' - 'a'] = { "__float128", AS_FLOAT },
	['h' - 'a'] = { "unsigned char", PLAIN_TYPE },
	['i' - 'a'] = { "int", AS_INT },
	['j' - 'a'] = { "unsigned int", AS_UNSIGNED },
	['l' - 'a'] = { "long", AS_LONG },
	['m' - 'a'] = { "unsigned long", AS_ULONG },
	['n' - 'a'] = { "__int128", PLAIN_TYPE },
	['o' - 'a'] = { "unsigned __int128", PLAIN_TYPE },
	['s' - 'a'] = { "short", PLAIN_TYPE },
	['t' - 'a'] = { "unsigned short", PLAIN_TYPE },
	['v' - 'a'] = { "void", PLAIN_TYPE },
	['w' - 'a'] = { "wchar_t", PLAIN_TYPE },
	['x' - 'a'] = { "long long", AS_LLONG },
	['y' - 'a'] = { "unsigned long long", AS_ULLONG },
	['z' - 'a'] = { "...", PLAIN_TYPE },
};

struct parser {
	const char *s, *end;
	struct node *nodes;
	size_t nnodes, max_nodes;
	const struct node **subs;
	size_t nsubs, max_subs;
	const struct node *last_name; /* the class that a constructor is named after */
	unsigned depth;
	bool in_conversion; /* I after a template parameter belongs to the operator's name */
	bool in_expression;
};

static const struct node *parse_type(struct parser *p);
static const struct node *parse_name(struct parser *p);
static const struct node *parse_encoding(struct parser *p);
static const struct node *parse_expression(struct parser *p);
static const struct node *parse_template_args(struct parser *p);

static char peek(const struct parser *p)
{
	return p->s < p->end ? *p->s : '\0';
}

static char peek_next(const struct parser *p)
{
	return p->end - p->s > 1 ? p->s[1] : '\0';
}

static bool take(struct parser *p, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(p->end - p->s) < n || memcmp(p->s, text, n) != 0)
		return false;
	p->s += n;
	return true;
}

static struct node *make(struct parser *p, enum kind kind, const struct node *a,
			 const struct node *b)
{
	struct node *n;

	if (p->nnodes == p->max_nodes)
		return NULL;
	n = &p->nodes[p->nnodes++];
	*n = (struct node){ .kind = kind, .a = a, .b = b };
	return n;
}

/* A node that needs `a`; NULL if there is none. */
static struct node *make_of(struct parser *p, enum kind kind, const struct node *a)
{
	return a ? make(p, kind, a, NULL) : NULL;
}

static struct node *make_both(struct parser *p, enum kind kind, const struct node *a,
			      const struct node *b)
{
	return a && b ? make(p, kind, a, b) : NULL;
}

static struct node *make_text(struct parser *p, enum kind kind, const char *text, size_t len,
			      const struct node *a)
{
	struct node *n = make(p, kind, a, NULL);

	if (n) {
		n->text = text;
		n->len = (uint32_t)len;
	}
	return n;
}

static struct node *make_word(struct parser *p, enum kind kind, const char *word,
			      const struct node *a)
{
	return make_text(p, kind, word, strlen(word), a);
}

/* The same for a node that needs `a`; NULL if there is none. */
static struct node *make_word_of(struct parser *p, enum kind kind, const char *word,
				 const struct node *a)
{
	return a ? make_word(p, kind, word, a) : NULL;
}

struct list {
	struct node *first, *last;
};

/* False when there is no `n`. */
static bool append(struct parser *p, struct list *list, const struct node *n)
{
	struct node *item = make_of(p, LIST, n);

	if (!item)
		return false;
	if (list->last)
		list->last->b = item;
	else
		list->first = item;
	list->last = item;
	return true;
}

static const struct node *add_sub(struct parser *p, const struct node *n)
{
	if (!n || p->nsubs == p->max_subs)
		return NULL;
	p->subs[p->nsubs++] = n;
	return n;
}

/* A number with an optional 'n' for minus; false if there is none or it is too large. */
static bool parse_number(struct parser *p, int64_t *ret)
{
	bool minus = take(p, "n");
	int64_t v = 0;

	if (!rk_is_digit(peek(p)))
		return false;
	for (; rk_is_digit(peek(p)); p->s++) {
		if (v > INT32_MAX)
			return false;
		v = v * 10 + (*p->s - '0');
	}
	*ret = minus ? -v : v;
	return true;
}

/* "_" is 0, "0_" is 1, ... */
static bool parse_compact(struct parser *p, int64_t *ret)
{
	if (take(p, "_")) {
		*ret = 0;
		return true;
	}
	if (peek(p) == 'n' || !parse_number(p, ret) || !take(p, "_"))
		return false;
	(*ret)++;
	return true;
}

static const struct node *parse_source_name(struct parser *p)
{
	static const char anonymous[] = "_GLOBAL_";
	const struct node *n;
	int64_t len;
	const char *text;

	if (peek(p) == 'n' || !parse_number(p, &len) || len <= 0 || len > p->end - p->s)
		return NULL;
	text = p->s;
	p->s += len;
	if (len >= 10 && memcmp(text, anonymous, 8) == 0 &&
	    (text[8] == '.' || text[8] == '_' || text[8] == '$') && text[9] == 'N')
		n = make_word(p, NAME, "(anonymous namespace)", NULL);
	else
		n = make_text(p, NAME, text, (size_t)len, NULL);
	p->last_name = n;
	return n;
}

static const struct op *find_operator(const char *code)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (operators[i].code[0] == code[0] && operators[i].code[1] == code[1])
			return &operators[i];
	return NULL;
}

static const struct node *parse_operator_name(struct parser *p)
{
	struct node *n;
	const struct op *op;

	if (take(p, "cv")) {
		bool before = p->in_conversion;

		p->in_conversion = !p->in_expression;
		n = make_of(p, p->in_expression ? CAST : CONVERSION, parse_type(p));
		p->in_conversion = before;
		return n;
	}
	if (take(p, "li"))
		return make_of(p, LITERAL_OP, parse_source_name(p));
	if (p->end - p->s < 2)
		return NULL;
	if (peek(p) == 'v' && rk_is_digit(peek_next(p))) {
		p->s += 2;
		return make_of(p, CONVERSION, parse_source_name(p));
	}
	op = find_operator(p->s);
	if (!op)
		return NULL;
	p->s += 2;
	n = make(p, OPERATOR, NULL, NULL);
	if (n)
		n->op = op;
	return n;
}

static bool is_builtin(const struct node *n, const char *text)
{
	return n->kind == BUILTIN && n->len == strlen(text) && memcmp(n->text, text, n->len) == 0;
}

/* Types up to E, or up to the end of the name; a single void is an empty list. *ret may be NULL. */
static bool parse_types(struct parser *p, const struct node **ret)
{
	struct list list = { 0 };

	for (char c = peek(p); c != '\0' && c != 'E' && c != '.'; c = peek(p)) {
		/* the reference qualifier of a function type */
		if ((c == 'R' || c == 'O') && peek_next(p) == 'E')
			break;
		if (!append(p, &list, parse_type(p)))
			return false;
	}
	if (!list.first)
		return false;
	*ret = list.first->b || !is_builtin(list.first->a, "void") ? list.first : NULL;
	return true;
}

static const struct node *parse_function(struct parser *p, bool with_result)
{
	const struct node *result = NULL, *args;

	if (take(p, "J"))
		with_result = true;
	if (with_result && !(result = parse_type(p)))
		return NULL;
	return parse_types(p, &args) ? make(p, FUNCTION, result, args) : NULL;
}

/* After "U": a lambda, or an unnamed type. */
static const struct node *parse_unnamed(struct parser *p)
{
	const struct node *args = NULL;
	struct node *n;
	int64_t num;

	if (take(p, "l")) {
		if (!parse_types(p, &args) || !take(p, "E") || !parse_compact(p, &num))
			return NULL;
		n = make(p, LAMBDA, args, NULL);
	} else {
		if (!take(p, "t") || !parse_compact(p, &num))
			return NULL;
		n = make(p, UNNAMED, NULL, NULL);
		if (!add_sub(p, n))
			return NULL;
	}
	if (n)
		n->num = num + 1;
	return n;
}

static const struct node *parse_tags(struct parser *p, const struct node *n)
{
	const struct node *name = p->last_name;

	while (n && take(p, "B"))
		n = make_both(p, TAGGED, n, parse_source_name(p));
	p->last_name = name;
	return n;
}

static bool parse_discriminator(struct parser *p)
{
	int64_t ignored;

	if (!take(p, "_"))
		return true;
	if (take(p, "_"))
		return parse_number(p, &ignored) && take(p, "_");
	if (!rk_is_digit(peek(p)))
		return false;
	p->s++;
	return true;
}

static const struct node *parse_unqualified(struct parser *p)
{
	const struct node *n = NULL;
	char c = peek(p), next = peek_next(p);

	if (rk_is_digit(c)) {
		n = parse_source_name(p);
	} else if (c >= 'a' && c <= 'z') {
		bool before = p->in_expression;

		if (c == 'o' && next == 'n')
			p->s += 2;
		p->in_expression = false;
		n = parse_operator_name(p);
		p->in_expression = before;
	} else if (c == 'D' && next == 'C') {
		struct list names = { 0 };

		p->s += 2;
		while (!take(p, "E"))
			if (!append(p, &names, parse_source_name(p)))
				return NULL;
		n = make_of(p, BINDING, names.first);
	} else if (c == 'C' || c == 'D') {
		bool inherits = c == 'C' && next == 'I';

		p->s += inherits ? 2 : 1;
		if (peek(p) < '0' || peek(p) > '5' || !p->last_name)
			return NULL;
		p->s++;
		n = make(p, c == 'C' ? CTOR : DTOR, p->last_name, NULL);
		if (inherits && !parse_type(p))
			return NULL;
	} else if (c == 'L') {
		p->s++;
		n = parse_source_name(p);
		if (!parse_discriminator(p))
			return NULL;
	} else if (c == 'U') {
		p->s++;
		n = parse_unnamed(p);
	}
	return peek(p) == 'B' ? parse_tags(p, n) : n;
}

static const struct node *parse_substitution(struct parser *p)
{
	static const struct {
		char letter;
		const char *name, *last;
	} known[] = {
		{ 't', "std", NULL },
		{ 'a', "std::allocator", "allocator" },
		{ 'b', "std::basic_string", "basic_string" },
		{ 's', "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
		  "basic_string" },
		{ 'i', "std::basic_istream<char, std::char_traits<char> >", "basic_istream" },
		{ 'o', "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream" },
		{ 'd', "std::basic_iostream<char, std::char_traits<char> >", "basic_iostream" },
	};
	size_t id = 0;
	const struct node *n;

	if (!take(p, "S"))
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (peek(p) != known[i].letter)
			continue;
		p->s++;
		if (known[i].last)
			p->last_name = make_word(p, NAME, known[i].last, NULL);
		n = make_word(p, NAME, known[i].name, NULL);
		if (peek(p) != 'B')
			return n;
		return add_sub(p, parse_tags(p, n));
	}
	if (!take(p, "_")) {
		for (; peek(p) != '_'; p->s++) {
			char c = peek(p);

			if (rk_is_digit(c))
				id = id * 36 + (size_t)(c - '0');
			else if (c >= 'A' && c <= 'Z')
				id = id * 36 + (size_t)(c - 'A' + 10);
			else
				return NULL;
			if (id >= p->nsubs)
				return NULL;
		}
		p->s++;
		id++;
	}
	return id < p->nsubs ? p->subs[id] : NULL;
}

static const struct node *parse_template_param(struct parser *p)
{
	struct node *n;
	int64_t num;

	if (!take(p, "T") || !parse_compact(p, &num))
		return NULL;
	n = make(p, PARAM, NULL, NULL);
	if (n)
		n->num = num;
	return n;
}

static const struct node *parse_decltype(struct parser *p)
{
	const struct node *n;

	p->s += 2;
	n = parse_expression(p);
	return n && take(p, "E") ? make(p, DECLTYPE, n, NULL) : NULL;
}

/* `n` with the template arguments that follow it, if there are any. */
static const struct node *parse_arguments(struct parser *p, const struct node *n)
{
	return n && peek(p) == 'I' ? make_both(p, TEMPLATE, n, parse_template_args(p)) : n;
}

static const struct node *parse_prefix(struct parser *p)
{
	const struct node *n = NULL;

	for (;;) {
		char c = peek(p), next = peek_next(p);
		const struct node *part;

		if (c == 'E')
			return n;
		if (c == 'I') {
			n = parse_arguments(p, n);
		} else if (c == 'M') {
			p->s++; /* a lambda in the initialiser of a member */
			continue;
		} else {
			if (c == 'S')
				part = parse_substitution(p);
			else if (c == 'T')
				part = parse_template_param(p);
			else if (c == 'D' && (next == 't' || next == 'T'))
				part = parse_decltype(p);
			else
				part = parse_unqualified(p);
			n = n && part ? make(p, QUALIFIED, n, part) : part;
		}
		if (!n)
			return NULL;
		if (c != 'S' && peek(p) != 'E' && !add_sub(p, n))
			return NULL;
	}
}

/* Qualifiers from r V K on; nested around n in the order in which they are printed. */
static const struct node *qualify(struct parser *p, const char *first, const char *last,
				  enum kind kind, const struct node *n)
{
	while (n && last-- > first) {
		const char *word = " __restrict";

		if (*last == 'K')
			word = " const";
		else if (*last == 'V')
			word = " volatile";
		n = make_word(p, kind, word, n);
	}
	return n;
}

static void skip_qualifiers(struct parser *p)
{
	while (peek(p) == 'r' || peek(p) == 'V' || peek(p) == 'K')
		p->s++;
}

static const struct node *parse_nested(struct parser *p)
{
	const struct node *n;
	const char *first = ++p->s, *last, *ref = NULL;

	skip_qualifiers(p);
	last = p->s;
	if (take(p, "R"))
		ref = " &";
	else if (take(p, "O"))
		ref = " &&";
	n = parse_prefix(p);
	if (!n || !take(p, "E"))
		return NULL;
	n = qualify(p, first, last, THIS, n);
	return ref ? make_word_of(p, THIS, ref, n) : n;
}

static const struct node *parse_local(struct parser *p)
{
	const struct node *function, *entity;
	int64_t num = -1;

	if (++p->depth > DEMANGLE_MAX_DEPTH)
		return NULL;
	p->s++;
	function = parse_encoding(p);
	if (!function || !take(p, "E"))
		return NULL;
	if (take(p, "s")) {
		p->depth--;
		entity = make_word(p, NAME, "string literal", NULL);
		return parse_discriminator(p) ? make_both(p, LOCAL, function, entity) : NULL;
	}
	if (take(p, "d") && !parse_compact(p, &num))
		return NULL;
	entity = parse_name(p);
	if (entity && entity->kind != LAMBDA && entity->kind != UNNAMED && !parse_discriminator(p))
		return NULL;
	if (num >= 0) {
		struct node *n = make_of(p, DEFAULT_ARG, entity);

		if (n)
			n->num = num + 1;
		entity = n;
	}
	p->depth--;
	return make_both(p, LOCAL, function, entity);
}

static const struct node *parse_name(struct parser *p)
{
	const struct node *n;

	switch (peek(p)) {
	case 'N':
		return parse_nested(p);
	case 'Z':
		return parse_local(p);
	case 'S':
		if (peek_next(p) == 't') {
			p->s += 2;
			n = make_both(p, QUALIFIED, make_word(p, NAME, "std", NULL),
				      parse_unqualified(p));
			break;
		}
		return parse_arguments(p, parse_substitution(p));
	default:
		n = parse_unqualified(p);
		break;
	}
	if (n && peek(p) == 'I' && !add_sub(p, n))
		return NULL;
	return parse_arguments(p, n);
}

static bool parse_offset(struct parser *p)
{
	int64_t ignored;

	if (take(p, "h"))
		return parse_number(p, &ignored) && take(p, "_");
	return take(p, "v") && parse_number(p, &ignored) && take(p, "_") &&
	       parse_number(p, &ignored) && take(p, "_");
}

/* Things the compiler generates: tables, thunks, guards. NULL if unknown. */
static const struct node *parse_special(struct parser *p)
{
	enum follows { A_TYPE, A_NAME, A_FUNCTION, AN_ARGUMENT };
	static const struct {
		char code[4];
		uint8_t skip;    /* letters of the code before what follows */
		uint8_t offsets; /* numbers before the thing itself */
		enum follows follows;
		const char *text;
	} known[] = {
		{ "TV", 2, 0, A_TYPE, "vtable for " },
		{ "TT", 2, 0, A_TYPE, "VTT for " },
		{ "TI", 2, 0, A_TYPE, "typeinfo for " },
		{ "TS", 2, 0, A_TYPE, "typeinfo name for " },
		{ "TF", 2, 0, A_TYPE, "typeinfo fn for " },
		{ "TJ", 2, 0, A_TYPE, "java Class for " },
		{ "TH", 2, 0, A_NAME, "TLS init function for " },
		{ "TW", 2, 0, A_NAME, "TLS wrapper function for " },
		{ "GV", 2, 0, A_NAME, "guard variable for " },
		{ "TA", 2, 0, AN_ARGUMENT, "template parameter object for " },
		{ "Th", 1, 1, A_FUNCTION, "non-virtual thunk to " },
		{ "Tv", 1, 1, A_FUNCTION, "virtual thunk to " },
		{ "Tc", 2, 2, A_FUNCTION, "covariant return thunk to " },
		{ "GTt", 3, 0, A_FUNCTION, "transaction clone for " },
		{ "GTn", 3, 0, A_FUNCTION, "non-transaction clone for " },
		{ "GA", 2, 0, A_FUNCTION, "hidden alias for " },
	};
	const struct node *a;
	struct node *n;
	int64_t num;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!take(p, known[i].code))
			continue;
		p->s -= strlen(known[i].code) - known[i].skip;
		for (unsigned k = 0; k < known[i].offsets; k++)
			if (!parse_offset(p))
				return NULL;
		if (known[i].follows == A_NAME)
			a = parse_name(p);
		else if (known[i].follows == A_FUNCTION)
			a = parse_encoding(p);
		else if (known[i].follows == AN_ARGUMENT && (peek(p) == 'L' || peek(p) == 'X'))
			a = parse_expression(p);
		else
			a = parse_type(p);
		return make_word_of(p, SPECIAL, known[i].text, a);
	}
	if (take(p, "TC")) {
		a = parse_type(p);
		if (!a || !parse_number(p, &num) || num < 0 || !take(p, "_"))
			return NULL;
		return make_both(p, IN_TABLE, parse_type(p), a);
	}
	if (!take(p, "GR") || !(a = parse_name(p)) || !parse_compact(p, &num))
		return NULL;
	n = make_word(p, SPECIAL, "reference temporary #", a);
	if (n)
		n->num = num;
	return n;
}

/* A template function has its result in its type, unless its name says it: constructors, conversions. */
static bool has_result(const struct node *n)
{
	while (n->kind == THIS || n->kind == LOCAL || n->kind == DEFAULT_ARG)
		n = n->kind == LOCAL ? n->b : n->a;
	if (n->kind != TEMPLATE)
		return false;
	n = n->a;
	while (n->kind == QUALIFIED || n->kind == LOCAL || n->kind == TAGGED)
		n = n->kind == TAGGED ? n->a : n->b;
	return n->kind != CTOR && n->kind != DTOR && n->kind != CONVERSION;
}

static const struct node *parse_encoding(struct parser *p)
{
	const struct node *n;
	char c = peek(p);

	if (++p->depth > DEMANGLE_MAX_DEPTH)
		return NULL;
	if (c == 'G' || c == 'T') {
		n = parse_special(p);
	} else {
		n = parse_name(p);
		c = peek(p);
		if (n && c != '\0' && c != 'E')
			n = make_both(p, TYPED, n, parse_function(p, has_result(n)));
	}
	p->depth--;
	return n;
}

static const struct node *parse_literal(struct parser *p)
{
	const struct node *type;
	struct node *n;
	bool minus;
	const char *text;

	p->s++;
	if (take(p, "_Z") || (peek(p) == 'Z' && ++p->s)) {
		type = parse_encoding(p);
		return type && take(p, "E") ? type : NULL;
	}
	type = parse_type(p);
	if (!type)
		return NULL;
	if (is_builtin(type, "decltype(nullptr)") && take(p, "E"))
		return type;
	minus = take(p, "n");
	text = p->s;
	while (peek(p) != 'E') {
		if (peek(p) == '\0')
			return NULL;
		p->s++;
	}
	if (p->s == text)
		return NULL;
	n = make_text(p, LITERAL, text, (size_t)(p->s - text), type);
	p->s++;
	if (n)
		n->num = minus;
	return n;
}

static const struct node *parse_template_arg(struct parser *p)
{
	const struct node *n;

	switch (peek(p)) {
	case 'X':
		p->s++;
		n = parse_expression(p);
		return n && take(p, "E") ? n : NULL;
	case 'L':
		return parse_literal(p);
	case 'I':
	case 'J':
		return parse_template_args(p);
	default:
		return parse_type(p);
	}
}

/* From I or J to E. */
static const struct node *parse_template_args(struct parser *p)
{
	const struct node *name = p->last_name;
	struct list args = { 0 };
	bool before = p->in_conversion;

	if (++p->depth > DEMANGLE_MAX_DEPTH)
		return NULL;
	p->s++;
	p->in_conversion = false;
	while (!take(p, "E"))
		if (!append(p, &args, parse_template_arg(p)))
			return NULL;
	p->in_conversion = before;
	p->last_name = name;
	p->depth--;
	return make(p, PACK, args.first, NULL);
}

/* Values up to E, as a PACK. */
static const struct node *parse_values(struct parser *p)
{
	struct list list = { 0 };

	while (!take(p, "E"))
		if (!append(p, &list, parse_expression(p)))
			return NULL;
	return make(p, PACK, list.first, NULL);
}

/* A name of an expression, with its template arguments. Unlike others it is not a substitution. */
static const struct node *parse_simple(struct parser *p)
{
	return parse_arguments(p, parse_unqualified(p));
}

/*
 * Parses again from an earlier place. The nodes made since then stay used: that bounds the time of a
 * name which makes us go back again and again.
 */
static void go_back(struct parser *p, const struct parser *start)
{
	size_t nnodes = p->nnodes;

	*p = *start;
	p->nnodes = nnodes;
}

/* After "sr": names up to E, or a type; then the name inside. */
static const struct node *parse_scoped(struct parser *p)
{
	bool names = rk_is_digit(peek(p));
	struct parser start = *p;
	const struct node *n = names ? parse_simple(p) : parse_type(p);

	while (n && names && peek(p) != 'E')
		n = make_both(p, QUALIFIED, n, parse_simple(p));
	if (names && !take(p, "E")) { /* older compilers wrote a class without the E */
		go_back(p, &start);
		names = false;
		n = parse_type(p);
	}
	if (!n)
		return NULL;
	if (names) /* c++filt treats the arguments as those of the whole name, not of its last part */
		return parse_arguments(p, make_both(p, QUALIFIED, n, parse_unqualified(p)));
	return make_both(p, QUALIFIED, n, parse_simple(p));
}

static const struct op *parse_operator(struct parser *p)
{
	const struct op *op = p->end - p->s < 2 ? NULL : find_operator(p->s);

	if (op)
		p->s += 2;
	return op;
}

static const struct node *parse_fold(struct parser *p, char letter)
{
	const struct op *op = parse_operator(p);
	const struct node *a, *b = NULL;
	struct node *n;

	if (!op || !(a = parse_expression(p)))
		return NULL;
	if ((letter == 'L' || letter == 'R') && !(b = parse_expression(p)))
		return NULL;
	n = make(p, FOLD, a, b);
	if (n) {
		n->op = op;
		n->num = letter;
	}
	return n;
}

/* An operator and what it is applied to. */
static const struct node *parse_operation(struct parser *p)
{
	const struct node *a, *b, *c;
	const struct op *op;
	struct node *n;

	if (take(p, "cv")) {
		a = parse_type(p);
		if (!a)
			return NULL;
		return make_both(p, CAST, a, take(p, "_") ? parse_values(p) : parse_expression(p));
	}
	op = parse_operator(p);
	if (!op)
		return NULL;
	if (op->code[0] == 'f')
		return parse_fold(p, op->code[1]);
	switch (op->operands) {
	case NOTHING:
		n = make(p, OPERATOR, NULL, NULL);
		break;
	case TYPE:
		n = make_of(p, UNARY, parse_type(p));
		break;
	case VALUES:
		n = make_of(p, UNARY, parse_values(p));
		break;
	case VALUE:
		n = make_of(p, UNARY, parse_expression(p));
		break;
	case STEP: /* ++a or a++ */
		if (take(p, "_"))
			n = make_of(p, UNARY, parse_expression(p));
		else
			n = make_of(p, POSTFIX, parse_expression(p));
		break;
	case TYPE_VALUE:
		a = parse_type(p);
		n = make_both(p, BINARY, a, a ? parse_expression(p) : NULL);
		break;
	case VALUE_VALUE:
		a = parse_expression(p);
		n = make_both(p, BINARY, a, a ? parse_expression(p) : NULL);
		break;
	case VALUE_VALUES:
		a = parse_expression(p);
		n = make_both(p, BINARY, a, a ? parse_values(p) : NULL);
		break;
	case VALUE_NAME:
		a = parse_expression(p);
		if (!a)
			return NULL;
		b = take(p, "sr") ? parse_scoped(p) : parse_unqualified(p);
		n = make_both(p, BINARY, a, parse_arguments(p, b));
		break;
	case THREE_VALUES:
		if (!(a = parse_expression(p)) || !(b = parse_expression(p)) ||
		    !(c = parse_expression(p)))
			return NULL;
		n = make_both(p, TERNARY, a, make(p, LIST, b, c));
		break;
	default:
		return NULL;
	}
	if (n)
		n->op = op;
	return n;
}

static const struct node *parse_expression(struct parser *p)
{
	bool before = p->in_expression;
	const struct node *n = NULL, *list;
	char c = peek(p), next = peek_next(p);
	int64_t num;

	if (++p->depth > DEMANGLE_MAX_DEPTH)
		return NULL;
	p->in_expression = true;
	if (c == 'L') {
		n = parse_literal(p);
	} else if (c == 'T') {
		n = parse_template_param(p);
	} else if (c == 's' && next == 'r') {
		p->s += 2;
		n = parse_scoped(p);
	} else if (c == 's' && next == 'p') {
		p->s += 2;
		n = make_of(p, EXPANSION, parse_expression(p));
	} else if (c == 'f' &&
		   (next == 'p' || (next == 'L' && p->end - p->s > 2 && rk_is_digit(p->s[2])))) {
		bool this_one = false;
		struct node *param;

		p->s += 2;
		if (next == 'L' && (!parse_number(p, &num) || !take(p, "p")))
			goto out;
		skip_qualifiers(p);
		if (take(p, "T"))
			this_one = true;
		else if (!parse_compact(p, &num))
			goto out;
		param = make(p, FUNCTION_PARAM, NULL, NULL);
		if (param)
			param->num = this_one ? 0 : num + 1;
		n = param;
	} else if (rk_is_digit(c) || (c == 'o' && next == 'n')) {
		if (c == 'o')
			p->s += 2;
		n = parse_simple(p);
	} else if ((c == 't' || c == 'i') && next == 'l') {
		const struct node *type = NULL;

		p->s += 2;
		if ((c == 't' && !(type = parse_type(p))) || !(list = parse_values(p)))
			goto out;
		n = make(p, INIT, type, list);
	} else {
		n = parse_operation(p);
	}
out:
	p->in_expression = before;
	p->depth--;
	return n;
}

static const struct node *builtin(struct parser *p, const char *text, enum literal_style style)
{
	struct node *n = make_word(p, BUILTIN, text, NULL);

	if (n)
		n->num = style;
	return n;
}

/* Types that begin with D; the substitution is added by the caller unless *plain. */
static const struct node *parse_d_type(struct parser *p, bool *plain)
{
	static const struct {
		char letter;
		const char *text;
	} known[] = {
		{ 'd', "decimal64" },      { 'e', "decimal128" },
		{ 'f', "decimal32" },      { 'h', "half" },
		{ 's', "char16_t" },       { 'i', "char32_t" },
		{ 'u', "char8_t" },        { 'a', "auto" },
		{ 'c', "decltype(auto)" }, { 'n', "decltype(nullptr)" },
	};
	const struct node *size, *type;
	struct node *n;
	char c = peek_next(p);
	int64_t num;

	if (c == '\0')
		return NULL;
	if (c == 't' || c == 'T')
		return parse_decltype(p);
	p->s += 2;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].letter == c) {
			*plain = true;
			return builtin(p, known[i].text, PLAIN_TYPE);
		}
	switch (c) {
	case 'F':
		*plain = true;
		if (!parse_number(p, &num) || num < 0)
			return NULL;
		if (take(p, "b"))
			return num == 16 ? builtin(p, "std::bfloat16_t", AS_FLOAT) : NULL;
		n = make_word(p, NUMBER, take(p, "x") ? "x" : "", NULL);
		if (!n)
			return NULL;
		if (!n->len)
			take(p, "_");
		n->num = num;
		type = builtin(p, "_Float", AS_FLOAT);
		if (type)
			((struct node *)type)->b = n; /* the number follows the word */
		return type;
	case 'p':
		return make_of(p, EXPANSION, parse_type(p));
	case 'v':
		if (peek(p) == '_') {
			p->s++;
			size = parse_expression(p);
		} else {
			n = make_word(p, NUMBER, "", NULL);
			if (!n || !parse_number(p, &n->num))
				return NULL;
			size = n;
		}
		if (!size || !take(p, "_"))
			return NULL;
		type = parse_type(p);
		return make_both(p, VECTOR, size, type);
	default:
		return NULL;
	}
}

static bool is_function(const struct parser *p)
{
	char c = peek_next(p);

	return peek(p) == 'F' || (peek(p) == 'D' && (c == 'o' || c == 'O' || c == 'w' || c == 'x'));
}

/* F ... E with its exception specification and reference qualifier. */
static const struct node *parse_function_type(struct parser *p, const char *first, const char *last)
{
	const struct node *n, *spec = NULL;
	const char *word = NULL;

	if (take(p, "Do")) {
		word = " noexcept";
	} else if (take(p, "DO")) {
		word = " noexcept";
		if (!(spec = parse_expression(p)) || !take(p, "E"))
			return NULL;
	} else if (take(p, "Dw")) {
		const struct node *ignored;

		if (!parse_types(p, &ignored) || !take(p, "E"))
			return NULL;
		word = " throw";
	}
	if (take(p, "Dx"))
		word = " transaction_safe";
	if (!take(p, "F"))
		return NULL;
	take(p, "Y");
	n = parse_function(p, true);
	if (!n)
		return NULL;
	if (take(p, "R"))
		n = make_word(p, THIS, " &", n);
	else if (take(p, "O"))
		n = make_word(p, THIS, " &&", n);
	if (!n || !take(p, "E"))
		return NULL;
	n = qualify(p, first, last, THIS, n);
	if (n && word) {
		struct node *q = make_word(p, THIS, word, n);

		if (q)
			q->b = spec;
		n = q;
	}
	return n;
}

static const struct node *parse_array(struct parser *p)
{
	const struct node *size = NULL, *type;
	const char *text = ++p->s;

	if (rk_is_digit(peek(p))) {
		while (rk_is_digit(peek(p)))
			p->s++;
		size = make_text(p, NAME, text, (size_t)(p->s - text), NULL);
		if (!size)
			return NULL;
	} else if (peek(p) != '_') {
		if (!(size = parse_expression(p)))
			return NULL;
	}
	if (!take(p, "_") || !(type = parse_type(p)))
		return NULL;
	return make(p, ARRAY, size, type);
}

/* A template parameter, with its arguments if it is a template. */
static const struct node *parse_param_type(struct parser *p)
{
	const struct node *n;

	n = parse_template_param(p);
	if (n && peek(p) == 'I' && !p->in_conversion) {
		if (!add_sub(p, n))
			return NULL;
		n = make_both(p, TEMPLATE, n, parse_template_args(p));
	} else if (n && peek(p) == 'I') {
		/* operator T<...>: the arguments may belong to T or to the operator: try */
		struct parser start = *p;
		const struct node *args;

		if (!add_sub(p, n))
			return NULL;
		args = parse_template_args(p);
		if (args && peek(p) == 'I')
			n = make(p, TEMPLATE, n, args);
		else
			go_back(p, &start);
	}
	return n;
}

/* U and the name of a qualifier that is the compiler's own: an address space, for example. */
static const struct node *parse_vendor_type(struct parser *p)
{
	const struct node *name, *n;
	struct node *q;

	p->s++;
	name = parse_arguments(p, parse_source_name(p));
	n = name ? parse_type(p) : NULL;
	if (!n)
		return NULL;
	q = make_word(p, CV, " ", n);
	if (q)
		q->b = name;
	return q;
}

static const struct node *parse_type_inner(struct parser *p)
{
	const struct node *n;
	char c = peek(p), next = peek_next(p);
	const char *first = p->s, *last;
	bool plain = false;

	if (c == 'r' || c == 'V' || c == 'K') {
		skip_qualifiers(p);
		last = p->s;
		if (is_function(p))
			return add_sub(p, parse_function_type(p, first, last));
		return add_sub(p, qualify(p, first, last, CV, parse_type(p)));
	}
	if (c >= 'a' && c <= 'z' && c != 'u') {
		p->s++;
		if (!builtins[c - 'a'].text)
			return NULL;
		return builtin(p, builtins[c - 'a'].text, builtins[c - 'a'].style);
	}
	switch (c) {
	case 'u':
		p->s++;
		n = parse_arguments(p, parse_source_name(p));
		break;
	case 'F':
		n = parse_function_type(p, first, first);
		break;
	case 'A':
		n = parse_array(p);
		break;
	case 'M': {
		const struct node *class;

		p->s++;
		class = parse_type(p);
		n = make_both(p, MEMBER, class, class ? parse_type(p) : NULL);
		break;
	}
	case 'T':
		if (next == 's' || next == 'u' || next == 'e') {
			p->s += 2;
			n = parse_name(p);
			break;
		}
		n = parse_param_type(p);
		break;
	case 'S':
		if (rk_is_digit(next) || next == '_' || (next >= 'A' && next <= 'Z')) {
			n = parse_substitution(p);
			if (!n || peek(p) != 'I')
				return n;
			n = make_both(p, TEMPLATE, n, parse_template_args(p));
			break;
		}
		n = parse_name(p);
		if (n && n->kind == NAME)
			return n;
		break;
	case 'P':
		p->s++;
		n = make_word_of(p, POINTER, "*", parse_type(p));
		break;
	case 'R':
		p->s++;
		n = make_word_of(p, POINTER, "&", parse_type(p));
		break;
	case 'O':
		p->s++;
		n = make_word_of(p, POINTER, "&&", parse_type(p));
		break;
	case 'C':
		p->s++;
		n = make_word_of(p, COMPLEX, " _Complex", parse_type(p));
		break;
	case 'G':
		p->s++;
		n = make_word_of(p, COMPLEX, " _Imaginary", parse_type(p));
		break;
	case 'U':
		n = parse_vendor_type(p);
		break;
	case 'D':
		if (is_function(p))
			n = parse_function_type(p, first, first);
		else
			n = parse_d_type(p, &plain);
		if (plain)
			return n;
		break;
	default:
		n = rk_is_digit(c) || c == 'N' || c == 'Z' ? parse_name(p) : NULL;
		break;
	}
	return add_sub(p, n);
}

static const struct node *parse_type(struct parser *p)
{
	const struct node *n;

	if (++p->depth > DEMANGLE_MAX_DEPTH)
		return NULL;
	n = parse_type_inner(p);
	p->depth--;
	return n;
}

/* ".kd" and the like after the name. */
static const struct node *parse_clones(struct parser *p, const struct node *n)
{
	while (n && peek(p) == '.') {
		const char *start = p->s++;
		char c = peek(p);

		if (!((c >= 'a' && c <= 'z') || c == '_' || rk_is_digit(c)))
			return NULL;
		while ((peek(p) >= 'a' && peek(p) <= 'z') || peek(p) == '_' || rk_is_digit(peek(p)))
			p->s++;
		while (peek(p) == '.' && rk_is_digit(peek_next(p)))
			for (p->s++; rk_is_digit(peek(p));)
				p->s++;
		n = make_text(p, CLONE, start, (size_t)(p->s - start), n);
	}
	return n;
}

bool rk_demangle(const char *name, struct rk_bytes *out)
{
	size_t len = strnlen(name, MAX_NAME + 1), before = out->len;
	struct parser p = { .s = name + 2, .end = name + len };
	const struct node *n;
	bool ok = false;

	if (len < 3 || len > MAX_NAME || memcmp(name, "_Z", 2) != 0 || out->bad)
		return false;
	p.max_nodes = 3 * len;
	p.max_subs = len;
	p.nodes = rk_calloc(p.max_nodes, sizeof(*p.nodes));
	p.subs = rk_calloc(p.max_subs, sizeof(*p.subs));
	if (p.nodes && p.subs) {
		n = parse_clones(&p, parse_encoding(&p));
		ok = n && p.s == p.end && rk_demangle_print(n, out);
	}
	rk_free(p.nodes);
	rk_free(p.subs);
	if (!ok) {
		out->len = before;
		out->bad = false;
	}
	return ok;
}
