# The words, without their descriptions.
"$ROCKIT" help formats | cut -c 1-18 | sed 's/ *$//'
