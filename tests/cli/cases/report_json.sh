"$ROCKIT" report --format json fix/run
