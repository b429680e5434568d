# fish completion for rockit: the command itself knows what may follow.
function __rockit_words
    set -l words (commandline -opc)
    set -l asked $words[2..-1]
    set -l offered
    # Behind "--" stands another program's command line.
    contains -- -- $words; or set offered ($words[1] help --words -- $asked 2>/dev/null)
    printf '%s\n' $offered
    # Files where neither an option nor one of a few words is due.
    string match -q -- '-*' (commandline -ct); or string match -qv -- '-*' $offered
    or __fish_complete_path (commandline -ct)
end
complete -c rockit -f -a '(__rockit_words)'
