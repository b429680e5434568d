# Every option of --help is known to the completions of the three shells, and no other.
long() { # options of --help
	"$ROCKIT" "$1" --help | sed -n 's/^  .*--\([a-z-]*\).*/\1/p' | sort
}
folder=$CASES/../../completions
for verb in report convert help; do
	for option in $(long $verb); do
		grep -q -- "--$option" "$folder/rockit.bash" || echo "bash: $verb --$option"
		grep -q -- "--$option" "$folder/_rockit" || echo "zsh: $verb --$option"
		grep -q -- "-l $option" "$folder/rockit.fish" || echo "fish: $verb --$option"
	done
	long $verb
done | sort -u >known
for option in $(sed 's/#.*//' "$folder/rockit.bash" | grep -o -- '--[a-z][a-z-]*' | sort -u); do
	[ "$option" = --version ] || grep -qx -- "${option#--}" known || echo "bash: $option is unknown"
done
for option in $(grep -o -- '--[a-z][a-z-]*' "$folder/_rockit" | sort -u); do
	grep -qx -- "${option#--}" known || echo "zsh: $option is unknown"
done
for option in $(grep -o -- ' -l [a-z-]*' "$folder/rockit.fish" | sed 's/ -l //' | sort -u); do
	[ "$option" = version ] || grep -qx -- "$option" known || echo "fish: $option is unknown"
done
grep ':' known
for verb in $("$ROCKIT" help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	grep -q "$verb" "$folder/rockit.bash" && grep -q "'$verb:" "$folder/_rockit" &&
		grep -q -- "-a $verb " "$folder/rockit.fish" || echo "verb $verb is missing"
done
