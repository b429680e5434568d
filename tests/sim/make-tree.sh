#!/bin/sh
# make-tree.sh DIR VERSION [TOOL...] - a ROCm tree below DIR whose tools are the stand-in.
#
# Makes DIR/opt/rocm-VERSION with bin/, .info/version and share/, and prints its path. ROCKIT_SIM
# names the program. Without TOOLs, all that VERSION had; a tool that was not yet there is left out.
set -eu
if [ $# -lt 2 ] || [ ! -x "${ROCKIT_SIM:-}" ]; then
	echo "usage: ROCKIT_SIM=PROGRAM make-tree.sh DIR VERSION [TOOL...]" >&2
	exit 2
fi
dir=$1 version=$2
shift 2
IFS=. read -r major minor rest <<-end
	$version.0
end
at=$((major * 100 + minor))
patch=${rest%%.*}
[ -n "$patch" ] || patch=0
tree=$dir/opt/rocm-$major.$minor.$patch

# has TOOL: did this release ship it?
has() {
	case $1 in
	rocprof | rocprofv2 | rocm-smi | amd-smi | rocm_agent_enumerator) return 0 ;;
	rocprofv3) [ $at -ge 602 ] ;;
	rocprofv3_avail) [ $at -eq 604 ] ;;
	rocprofv3-avail) [ $at -ge 700 ] ;;
	omniperf) [ $at -le 602 ] ;;
	rocprof-compute | rocprof-sys-run | rocprof-sys-sample) [ $at -ge 603 ] ;;
	*)
		echo "make-tree.sh: no tool '$1'" >&2
		exit 2
		;;
	esac
}

[ $# -gt 0 ] || set -- rocprof rocprofv2 rocprofv3 rocprofv3_avail rocprofv3-avail \
	rocprof-compute rocprof-sys-run rocprof-sys-sample rocm-smi amd-smi
# rocprof does nothing where this one is not beside it
set -- "$@" rocm_agent_enumerator
mkdir -p "$tree/bin" "$tree/.info" "$tree/lib" "$tree/share/rocprofiler-sdk"
echo "$major.$minor.$patch-66" >"$tree/.info/version"
# The library under the version of its own: what the release is known by beside .info/version.
case $at in
602) sdk=0.4.0 ;;
603) sdk=0.5.0 ;;
604) sdk=0.6.0 ;;
1000) sdk=1.3.5 ;;
1001) sdk=1.4.1 ;;
7[0-9][0-9]) if [ $at -ge 713 ]; then sdk=1.3.0; else sdk=1.0.0; fi ;;
*) sdk= ;;
esac
if [ -n "$sdk" ]; then
	mkdir -p "$tree/lib/rocprofiler-sdk"
	: >"$tree/lib/librocprofiler-sdk.so.$sdk"
	ln -sf "librocprofiler-sdk.so.$sdk" "$tree/lib/librocprofiler-sdk.so.${sdk%%.*}"
	ln -sf "librocprofiler-sdk.so.${sdk%%.*}" "$tree/lib/librocprofiler-sdk.so"
	: >"$tree/lib/rocprofiler-sdk/librocprofiler-sdk-tool.so"
fi
for tool; do
	if has "$tool"; then
		ln -sf "$ROCKIT_SIM" "$tree/bin/$tool"
	fi
done
echo "$tree"
