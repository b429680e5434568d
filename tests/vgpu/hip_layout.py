"""What collectors/rocm/hip_abi.h says about HIP's tracer callback, against AMD's hip_prof_str.h."""

import re
import subprocess

BYTES = ("sizeBytes", "size", "count", "ByteCount", "width", "extent", "WidthInBytes", "extent.width")
FIELDS = ("first", "last", "unit", "stream", "bytes", "rows", "layers", "kind")
AT = 0x8000


def output(temp, name, compiler, source, *options):
    path = temp / name
    path.write_text(source)
    subprocess.run([*compiler, *options, "-w", "-o", path.with_suffix(""), path], check=True)
    return subprocess.run([path.with_suffix("")], capture_output=True, text=True, check=True).stdout.splitlines()


def ours(temp, source):
    """The table of releases and that of arguments, as the compiler sees them."""
    fields = ", ".join(f"a->{f}" for f in FIELDS)
    lines = output(temp, "ours.c", ["gcc"], f"""
        #include <stdio.h>
        #include "hip_abi.h"
        int main(void) {{
            for (size_t i = 0; i < sizeof(hip_releases) / sizeof(hip_releases[0]); i++)
                printf("release %d %d %d\\n", hip_releases[i].major, hip_releases[i].minor, hip_releases[i].bytes);
            for (size_t i = 0; i < sizeof(hip_arguments) / sizeof(hip_arguments[0]); i++) {{
                const struct hip_arguments *a = &hip_arguments[i];
                printf("%s {' '.join(['%d'] * len(FIELDS))}\\n", a->name, {fields});
            }}
        }}""", f"-I{source / 'collectors/rocm'}")
    releases = {tuple(map(int, line.split()[1:3])): int(line.split()[3]) for line in lines if line.startswith("release")}
    rows = [(line.split()[0], dict(zip(FIELDS, map(int, line.split()[1:]), strict=True)))
            for line in lines if not line.startswith("release")]
    return releases, rows


def theirs(temp, include):
    """Version, size, and for each call its arguments by offset: (type, name); structures of pointers too."""
    text = (include / "hip/amd_detail/hip_prof_str.h").read_text()
    body = text[text.index("typedef struct hip_api_data_s {"):text.index("} hip_api_data_t;")]
    members = [(call[2], *re.match(r"\s*(.*?)(\w+)$", line.rstrip(";")).groups())
               for call in re.finditer(r"    struct \{\n(.*?)\n    \} (\w+);", body, re.S) for line in call[1].split("\n")]
    source = ["#define __HIP_PLATFORM_AMD__", "#include <cstddef>", "#include <cstdio>", "#include <hip/hip_runtime.h>",
              "#include <hip/amd_detail/hip_prof_str.h>", "int main() {",
              'printf("%d %d %zu\\n", HIP_VERSION_MAJOR, HIP_VERSION_MINOR, sizeof(hip_api_data_t));']
    for call, kind, name in members:
        source.append(f'printf("{call}|{kind.strip()}|{name}|%zu\\n", offsetof(hip_api_data_t, args.{call}.{name}));')
    inner = {"hipMemcpy3DParms": ("extent.width", "extent.height", "extent.depth", "kind"),
             "HIP_MEMCPY3D": ("WidthInBytes", "Height", "Depth"), "hip_Memcpy2D": ("WidthInBytes", "Height"),
             "hipLaunchConfig_t": ("stream",), "HIP_LAUNCH_CONFIG": ("hStream",)}
    for struct, names in inner.items():
        if struct in text:
            source += [f'printf("{struct}|{n}|{n}|%zu\\n", offsetof({struct}, {n}));' for n in names]
    first, *lines = output(temp, "theirs.cpp", ["g++", "-std=c++17"], "\n".join([*source, "}"]), f"-I{include}")
    calls = {}
    for line in lines:
        call, kind, name, offset = line.split("|")
        calls.setdefault(call, {})[int(offset)] = (kind, name)
    return *map(int, first.split()), calls


def faults(temp, include, source):
    """What is different, one line each."""
    releases, rows = ours(temp, source)
    major, minor, size, calls = theirs(temp, include)
    found = []
    if releases.get((major, minor)) != size:
        found.append(f"HIP {major}.{minor}: the structure has {size} bytes, not {releases.get((major, minor))}")
    known = {}
    for name, row in rows:
        if row["first"] and major < row["first"] or row["last"] and major > row["last"] or name not in calls:
            continue
        known[name] = row
        arguments = calls[name]

        def at(field):
            offset = row[field]
            if not offset & AT:
                return arguments.get(offset, ("nothing", "nothing"))
            pointed = arguments[16][0].replace("const", "").replace("*", "").strip()
            return calls[pointed].get(offset & ~AT, ("nothing", "nothing"))

        if row["stream"] and at("stream")[0] not in ("hipStream_t", "stream", "hStream"):
            found.append(f"{name}: {at('stream')} is not a stream")
        if not row["stream"] and any(kind == "hipStream_t" for kind, _ in arguments.values()):
            found.append(f"{name} has a stream")
        if row["bytes"] and at("bytes")[1] not in BYTES:
            found.append(f"{name}: {at('bytes')} is not the bytes")
        extent = row["bytes"] and at("bytes")[1] == "extent"  # width, height and depth in it
        for field, names, behind in (("rows", ("height", "Height", "extent.height"), 8), ("layers", ("Depth", "extent.depth"), 16)):
            if row[field] and at(field)[1] not in names and not (extent and row[field] == row["bytes"] + behind):
                found.append(f"{name}: {at(field)} is not the {field}")
        if row["kind"] >= 16 and at("kind")[0] not in ("hipMemcpyKind", "kind"):
            found.append(f"{name}: {at('kind')} is not a kind")
        unit = re.search(r"D(16|32)", name)
        if (row["unit"] or 1) != (int(unit[1]) // 8 if unit else 1):
            found.append(f"{name}: unit {row['unit']}")
    for name, arguments in calls.items():
        launches = re.match(r"hip(Module|Ext|Hcc|Drv|Graph)*(Launch|Memcpy|Memset)", name)
        if launches and name not in known and any(kind == "hipStream_t" for kind, _ in arguments.values()):
            found.append(f"{name} is missing")
    return found
