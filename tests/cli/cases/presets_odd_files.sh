# Entries of the presets folder that are not files are skipped, not waited for.
mkdir own own/folder.json
mkfifo own/pipe.json
ln -s nowhere own/broken.json
printf '{"description": "good", "overhead": "low", "traces": ["hip"]}' >own/good.json
export ROCKIT_PRESET_DIR=$PWD/own
timeout 10 "$ROCKIT" presets | tail -n 2
timeout 10 "$ROCKIT" presets pipe
echo "[$?]"
timeout 10 "$ROCKIT" presets broken
echo "[$?]"
