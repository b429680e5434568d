ROCKIT_PRESET_DIR=$PWD/none
export ROCKIT_PRESET_DIR
"$ROCKIT" presets
"$ROCKIT" presets --format csv | cut -d, -f1
"$ROCKIT" presets --format json | grep -c '"name"'
"$ROCKIT" help --words -- presets | grep -v '^-'
