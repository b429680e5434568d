# Presets of the user: listed behind the others, winning over them, named when damaged.
mkdir -p home/.config/rockit/presets other
HOME=$PWD/home
export HOME
unset XDG_CONFIG_HOME ROCKIT_PRESET_DIR
cd home/.config/rockit/presets || exit 1
cat >mine.json <<X
{
	"extends": "memory",
	"description": "memory, with power\u001b[31m",
	"monitors": ["power"],
	"monitor_interval_ms": 50,
	"env": { "HSA_XNACK": 1 },
	"tool_args": ["--log-level", "info"],
	"distributed": { "launcher": "torchrun", "nproc_per_node": 8 }
}
X
echo '{"extends": "lightweight", "traces": ["kernel"]}' >lightweight.json
cd "$HOME/.." || exit 1
"$ROCKIT" presets | sed -n '1p; /^lightweight/p; $p'
"$ROCKIT" presets mine | sed "s|$PWD|HERE|"
"$ROCKIT" presets lightweight --format json | grep '"traces"'
"$ROCKIT" presets ./home/.config/rockit/presets/mine.json -f csv | cut -d, -f 1 | tail -n 1
ROCKIT_PRESET_DIR=$PWD/other "$ROCKIT" presets | tail -n 1 | cut -c 1-9
printf '{\n "trace": ["hip"]\n}\n' >home/.config/rockit/presets/zdamaged.json
"$ROCKIT" presets >list 2>error
echo "$? $(wc -l <list)"
sed "s|$PWD|HERE|" error
