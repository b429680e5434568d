$ROCKIT counters --help
