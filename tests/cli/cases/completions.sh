# What the shells offer comes from the tables of the command itself.
"$ROCKIT" help --words | cut -f 1 | sort >verbs
"$ROCKIT" help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort | diff verbs -
for verb in $(cat verbs); do
	"$ROCKIT" help --words -- "$verb" | sed -n 's/^--\([a-z-]*\).*/\1/p' | sort >offered
	"$ROCKIT" "$verb" --help | sed -n 's/^  [- ][^ -]*,* *--\([a-z-]*\).*/\1/p' | sort |
		diff - offered
done
echo "report --by:"
"$ROCKIT" help --words -- report --by
echo "convert -f:"
"$ROCKIT" help --words -- convert -f
echo "pack:"
"$ROCKIT" help --words -- pack | cut -f 1
echo "pack build --devel-compression:"
"$ROCKIT" help --words -- pack build --artifact-dir x --devel-compression
echo "convert --output: anything"
"$ROCKIT" help --words -- convert --output
command -v bash >/dev/null || exit 0
offer() { # words of a command line, the last being typed
	bash -c '. "$CASES/../../completions/rockit.bash"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_rockit; echo "${COMPREPLY[*]}"' bash "$ROCKIT" "$@"
}
echo "bash:"
offer conv
offer report --top 3 --b
offer report --by r
offer convert --table ker
offer report -- --b
offer pack b
offer pack build --dev
offer pack build --rpath-tag ru
