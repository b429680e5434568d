ROCKIT_PRESET_DIR=$PWD/none
export ROCKIT_PRESET_DIR
"$ROCKIT" presets comprehensive
"$ROCKIT" presets rocprofv3_multi_node.json --format json
"$ROCKIT" presets pc_sampling -f csv
