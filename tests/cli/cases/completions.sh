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
echo "misuse:"
"$ROCKIT" completion
echo $?
"$ROCKIT" completion fsh
"$ROCKIT" completion tcsh
"$ROCKIT" completion bash zsh
"$ROCKIT" completion --top bash
for shell in bash zsh fish; do
	"$ROCKIT" completion $shell | grep -c "made by 'rockit completion $shell'"
done
