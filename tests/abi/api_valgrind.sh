#!/bin/sh
# api_valgrind.sh - tests of the API under valgrind, which sees what sanitizers of our own code do
# not: bytes that were never written, in libraries too. For `make test-full`.
[ "${ROCKIT_TEST_FULL:-}" = 1 ] || exit 77
command -v valgrind >/dev/null || exit 77
for tests in api_misuse api_parts unit/stream; do
	valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
		"$ROCKIT_UNIT" "$tests" >"$(basename "$tests").log" 2>&1 || {
		tail -n 40 "$(basename "$tests").log"
		exit 1
	}
done
