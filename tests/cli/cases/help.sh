"$ROCKIT" help
"$ROCKIT" help help
"$ROCKIT" --help | head -n 1
"$ROCKIT" -h | head -n 1
