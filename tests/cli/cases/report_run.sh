# A directory is one run, and nothing counts twice.
"$ROCKIT" report -v fix/run
