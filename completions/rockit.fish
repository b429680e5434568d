# fish completion for rockit
complete -c rockit -n __fish_use_subcommand -f -a report -d 'say what took the time'
complete -c rockit -n __fish_use_subcommand -f -a convert -d 'write Parquet, CSV or JSON lines'
complete -c rockit -n __fish_use_subcommand -f -a help -d 'explain a verb or list the formats'
complete -c rockit -n __fish_use_subcommand -f -a version -d 'print the version'
complete -c rockit -n __fish_use_subcommand -l version -d 'print the version'

complete -c rockit -s h -l help -d 'explain the verb'
for verb in report convert
    complete -c rockit -n "__fish_seen_subcommand_from $verb" -s q -l quiet -d 'no warnings and no progress'
    complete -c rockit -n "__fish_seen_subcommand_from $verb" -s v -l verbose -d 'say which files are used'
    complete -c rockit -n "__fish_seen_subcommand_from $verb" -l color -x -a 'auto always never' -d 'colour in text'
    complete -c rockit -n "__fish_seen_subcommand_from $verb" -l threads -x -d 'threads to use'
    complete -c rockit -n "__fish_seen_subcommand_from $verb" -l tmpdir -x -a '(__fish_complete_directories)' -d 'for temporary files'
    complete -c rockit -n "__fish_seen_subcommand_from $verb" -s o -l output -r -d 'where to write'
end

complete -c rockit -n '__fish_seen_subcommand_from report' -s n -l top -x -d 'rows per table'
complete -c rockit -n '__fish_seen_subcommand_from report' -l by -x -a 'device process stream rank' -d 'split names'
complete -c rockit -n '__fish_seen_subcommand_from report' -s f -l format -x -a 'text json csv' -d 'format'

complete -c rockit -n '__fish_seen_subcommand_from convert' -s f -l format -x -a 'parquet csv jsonl' -d 'format'
complete -c rockit -n '__fish_seen_subcommand_from convert' -l table -x -a 'kernels memcpy memalloc api markers counters samples pc_samples library_calls agents processes stats instructions' -d 'table to write'
complete -c rockit -n '__fish_seen_subcommand_from convert' -l mangled -d 'keep kernel names as recorded'
complete -c rockit -n '__fish_seen_subcommand_from convert' -l truncate -d 'cut kernel names to the function'

complete -c rockit -n '__fish_seen_subcommand_from help' -f -s a -l all -d 'the help of every verb'
complete -c rockit -n '__fish_seen_subcommand_from help' -f -a 'report convert help version formats'
