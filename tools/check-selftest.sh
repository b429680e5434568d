#!/bin/sh
# check-selftest.sh - each check passes a small good tree and fails when one fault is put into it.
set -u
tools=$(cd "$(dirname "$0")" && pwd)
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
status=0
unset ROCKIT

make_stub() { # a command with one option, and what its completion offers
	cat >rockit-stub <<-END
		#!/bin/sh
		case \$1 in
		completion) echo '_rockit() { COMPREPLY=(${1-}); }' ;;
		*) printf '  --top N    rows to show\nexamples:\n  rockit show x    a remark\n' ;;
		esac
	END
}

make_tree() { # a good tree
	rm -rf "$temp/tree"
	mkdir -p "$temp/tree/src/base" "$temp/tree/src/io" "$temp/tree/src/codec" \
		"$temp/tree/src/read" "$temp/tree/src/cli" "$temp/tree/include/rockit" \
		"$temp/tree/docs/man" "$temp/tree/tests"
	cd "$temp/tree" || exit 1
	cp "$tools/../.clang-format" .
	echo '/* a.h - strcpy(a, b) and malloc( in a comment are fine. */' >include/rockit/a.h
	printf '#include "rockit/a.h"\n' >src/base/b.c
	printf '#include "base/b.h"\n#include "io/c.h"\n' >src/io/c.c
	printf '#include "codec/m.h"\n#include "io/c.h"\n' >src/read/f.c
	printf '#include "rockit/a.h"\n' >src/cli/cmd_show.c
	printf '.TH show 1 2026-01-01\n.SH VERBS\n.BR rockit\\-show (1)\n' >docs/man/rockit.1
	printf '.TH show 1 2026-01-01\n.SH OPTIONS\n.TP\n\\fB\\-\\-top\\fR N\nRows.\n' >docs/man/rockit-show.1
	printf '.SH EXAMPLES\n.nf\nrockit show x\n.fi\n' >>docs/man/rockit-show.1
	make_stub --top
	printf '#!/bin/sh\nexit 0\n' >script.sh
	chmod +x rockit-stub
}

expect() { # check, "pass" or "fail", what was done to the tree
	"$tools/check-$1" "$temp/tree" >"$temp/out" 2>&1
	rc=$?
	[ $rc -eq 77 ] && return
	case $2 in
	pass) [ $rc -eq 0 ] && return ;;
	fail) [ $rc -eq 1 ] && return ;;
	esac
	echo "check-$1: exit status $rc, expected to $2: $3"
	cat "$temp/out"
	status=1
}

fault() { # check, description; the tree is good again afterwards
	expect "$1" fail "$2"
	make_tree
}

make_tree
ROCKIT=$temp/tree/rockit-stub
export ROCKIT
for check in layers banned format man tree words; do
	expect $check pass "a good tree"
done

printf '#include "io/c.h"\n' >src/base/b.c
fault layers "an include upwards"
printf '#include "write/w.h"\n' >src/read/f.c
fault layers "an include of a neighbour"
printf '#include "base/b.h"\n' >src/cli/cmd_show.c
fault layers "the command includes the inside"
printf '#include "base/b.h"\n' >include/rockit/a.h
fault layers "a public header includes the inside"
cp src/base/b.c src/io/b.c
fault layers "two files of one name"
mkdir src/read/x && cp src/base/b.c src/read/x/b.c
expect layers pass "a sub-folder carries the name"
cp src/base/b.c src/read/b.c
fault layers "two files of one name in a room"
mkdir src/attic && touch src/attic/x.c
fault layers "a folder without a floor"
printf 'const struct rk_reader_ops rk_reader_x = { 0 };\n' >src/read/f.c
printf 'extern const struct rk_reader_ops rk_reader_x;\n' >src/read/readers.c
expect layers pass "a reader in its file and in the list"
mkdir src/run && printf 'int f(void) {\n\treturn g(&rk_reader_x);\n}\n' >src/run/x.c
fault layers "a reader that is named elsewhere"
mkdir src/run
printf 'int f(struct rk_found *f) {\n\treturn h("%%s", f->ops->name); /* strcmp(f->ops->name) */\n}\n' >src/run/x.c
expect layers pass "a reader's name in a message"
printf 'int f(struct rk_found *f) {\n\treturn !strstr(f->ops->name, "json");\n}\n' >src/run/x.c
fault layers "a decision by a reader's name"

printf 'void f(char *a) {\n\tstrcpy(a, "x");\n}\n' >src/cli/x.c
fault banned "strcpy in the command"
printf 'void f(void) {\n\tfree (0);\n}\n' >src/io/x.c
fault banned "free in the library"
printf 'void f(void) {\n\tputs("/*");\n\tprintf("*/");\n}\n' >src/io/x.c
fault banned "printf after a string that looks like a comment"
printf 'int f(char *a) {\n\treturn atoi(a);\n}\n' >tests/x.c
fault banned "atoi in a test"

printf 'int  f(void){return 0;}\n' >src/io/x.c
fault format "odd layout"

touch src/cli/cmd_other.c
fault man "a verb without a page"
printf '.TH gone 1 2026-01-01\n' >docs/man/rockit-gone.1
fault man "a page without a verb"
sed -i '/^.TP/,/^Rows/d' docs/man/rockit-show.1
fault man "an option that the page lacks"
printf '.TP\n\\-\\-bottom\n' >>docs/man/rockit-show.1
fault man "an option that the command lacks"
sed -i '/^rockit show/d' docs/man/rockit-show.1
fault man "an example that the page lacks"
printf '.TH show 1 2026-01-01\n' >docs/man/rockit.1
fault man "a verb that the first page does not know"
if command -v bash >/dev/null; then
	make_stub
	fault man "an option that completion lacks"
	make_stub '--top --bottom'
	fault man "an option that completion has alone"
fi
if command -v groff >/dev/null; then
	printf '.SH BUGS\n.XX\n' >>docs/man/rockit-show.1
	fault man "a page with a request that there is not"
fi
printf '#!/bin/sh\nexit 3\n' >rockit-stub
fault man "a command without --help"

printf '/* see /%s/me/notes */\n' home >src/io/x.c
fault tree "an absolute path of a machine"
printf 'cat ..%s/data\n' /shared >x.sh
fault tree "a path beside the tree"
head -c 1000001 /dev/zero | tr '\0' a >big.txt
fault tree "a big file"
printf 'a\0b' >blob
fault tree "a binary file"
mkdir -p docs/img && printf '\211PNG\0' >docs/img/page.png
expect tree pass "a picture of the manual"
head -c 300001 /dev/zero >>docs/img/page.png
fault tree "a big picture"
printf 'if true; then\n' >x.sh
fault tree "a script that does not parse"

printf '/*\n * This is\n * no example.\n */\n' >src/io/x.c
fault words "a phrase over two lines of a comment"
printf 'The file lies in the folder.\n' >docs/page.md
fault words "a phrase in the manual"

[ $status -eq 0 ] && echo "check-selftest: all checks can fail"
exit $status
