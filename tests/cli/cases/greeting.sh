# rockit alone: five lines, exit 0.
"$ROCKIT" | sed 's/[0-9]*\.[0-9]*\.[0-9]*/VERSION/'
