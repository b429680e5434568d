# bash completion for rockit
_rockit()
{
	local cur prev verb words verbs common
	COMPREPLY=()
	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	verbs="report convert help version"
	common="-q --quiet -v --verbose --color --threads --tmpdir -h --help"
	verb=${COMP_WORDS[1]}

	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$cur")
		return
	fi
	case $verb,$prev in
	report,--by) words="device process stream rank" ;;
	report,--format | report,-f) words="text json csv" ;;
	convert,--format | convert,-f) words="parquet csv jsonl" ;;
	convert,--table)
		words="kernels memcpy memalloc api markers counters samples pc_samples
			library_calls agents processes stats instructions"
		;;
	*,--color) words="auto always never" ;;
	*,--threads | *,--top | *,-n) return ;;
	*,--tmpdir)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	*)
		case $verb,$cur in
		report,-*) words="-n --top --by -f --format -o --output $common" ;;
		convert,-*) words="-o --output -f --format --table --mangled --truncate $common" ;;
		help,-*) words="-a --all -h --help" ;;
		help,*) words="$verbs formats" ;;
		version,*) words="-h --help" ;;
		*)
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
			;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o filenames -F _rockit rockit
