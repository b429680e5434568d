# bash completion for rockit: the command itself knows what may follow.
_rockit()
{
	local cur=${COMP_WORDS[COMP_CWORD]} word
	local -a asked=("${COMP_WORDS[@]:1:COMP_CWORD - 1}")

	COMPREPLY=()
	# Behind "--" stands another program's command line.
	for ((word = 2; word < COMP_CWORD; word++)); do
		[ "${COMP_WORDS[word]}" = -- ] && return
	done
	while IFS=$'\t' read -r word _; do
		[[ $word == "$cur"* ]] && COMPREPLY+=("$word")
	done < <("${COMP_WORDS[0]}" help --words -- "${asked[@]}" 2>/dev/null)
}
complete -o bashdefault -o default -F _rockit rockit
