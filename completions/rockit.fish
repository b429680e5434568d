# fish completion for rockit: the command itself knows what may follow.
function __rockit_words
    set -l words (commandline -opc)
    contains -- -- $words; and return
    set -l asked $words[2]
    test (count $words) -gt 2; and set asked $words[2] $words[-1]
    $words[1] help --words -- $asked 2>/dev/null
end
complete -c rockit -a '(__rockit_words)'
