# The words, without what is said about them.
"$ROCKIT" help formats | cut -c 1-18 | sed 's/ *$//'
