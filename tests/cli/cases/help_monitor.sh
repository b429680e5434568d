"$ROCKIT" monitor --help
