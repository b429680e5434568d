ROCKIT_PRESET_DIR=$PWD/none
export ROCKIT_PRESET_DIR
try() {
	"$ROCKIT" presets "$@"
	echo $?
}
try memry
try rocprofv3_computebound
try zebra
try compute memory
try --format xml
try ./nowhere.json
try /
printf 'traces: hip\n' >bad.json
try ./bad.json
printf '{"traces": ["hip", "kernal"]}' >bad.json
try ./bad.json
