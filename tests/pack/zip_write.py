#!/usr/bin/env python3
"""Archives that rockit writes, as other programs read them: Python, unzip, bsdtar and pip."""

import base64
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"], "tests/elf")))
from libcheck import FULL, Skip, main, need, run, test  # noqa: E402

ZIP_TOOL = pathlib.Path(os.environ["ROCKIT_UNIT"]).with_name("zip-tool")
MB = 1 << 20
EPOCH = 1700000000  # 2023-11-14 22:13:20


def archive(path, members, *options):
    """Members are (name, file, mode, "packed" or "stored"); the lines that zip-tool printed."""
    lines = "".join(f"{mode:o}\t{how}\t{source}\t{name}\n" for name, source, mode, how in members)
    said = run(ZIP_TOOL, "--epoch", EPOCH, *options, path, input=lines.encode()).decode()
    return [line.split(" ", 4) for line in said.splitlines()]


def noise(seed, size):
    return random.Random(seed).randbytes(size)


def words(seed, size):
    """Text that packs to about a third."""
    rng = random.Random(seed)
    some = [rng.randbytes(rng.randrange(3, 12)).hex().encode() for _ in range(300)]
    text = b" ".join(rng.choices(some, k=size // 12 + 8))
    return text[:size]


def every_kind(folder):
    """Members around the sizes at which they are cut, of both kinds, packed and stored."""
    sizes = [0, 1, 2, 99, 4096, 256 * 1024 - 40, 256 * 1024, 256 * 1024 + 1, MB - 1, MB, MB + 1,
             2 * MB + 12345]
    members = []
    for i, size in enumerate(sizes):
        for kind in (words, noise):
            source = folder / f"{kind.__name__}-{size}"
            source.write_bytes(kind(i, size))
            for how in ("packed", "stored"):
                mode = 0o100755 if i % 2 else 0o100644
                members.append((f"a folder/{how}/{source.name}", source, mode, how))
    for i, name in enumerate(["näme.txt", "日本/x", "comma, \"quoted\"", ".hidden", "-dash"]):
        members.append((name, folder / "words-99", 0o100644 if i else 0o100600, "packed"))
    return members


def check(path, members, said):
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        infos = z.infolist()
        assert [i.filename for i in infos] == [m[0] for m in members]
        for info, (name, source, mode, how), line in zip(infos, members, said):
            data = source.read_bytes()
            assert z.read(info) == data, name
            assert line[0] == hashlib.sha256(data).hexdigest(), name
            assert int(line[1], 16) == zlib.crc32(data) == info.CRC, name
            assert int(line[2]) == len(data) == info.file_size, name
            assert int(line[3]) == info.compress_size <= info.file_size, name
            assert info.compress_type == (8 if info.compress_size < len(data) else 0), name
            assert how == "packed" or info.compress_type == 0, name
            assert info.external_attr == mode << 16 and info.create_system == 3, name
            assert info.create_version == info.extract_version == 20 and not info.extra, name
            assert info.flag_bits == (0 if name.isascii() else 0x800), name
            assert info.date_time == (2023, 11, 14, 22, 13, 20), name


@test
def python_reads_every_kind_of_member(folder):
    members = every_kind(folder)
    for options in ((), ("--level", 12), ("--level", 0), ("--zlib", "--level", 1)):
        said = archive(folder / "x.zip", members, "--threads", 2, *options)
        check(folder / "x.zip", members, said)


@test
def any_number_of_threads_gives_the_same_bytes(folder):
    members = every_kind(folder)
    for options in ((), ("--level", 1), ("--zlib", "--level", 1)):
        sums = set()
        for threads in (1, 2, 7, 16) if FULL else (1, 2, 7):
            archive(folder / "x.zip", members, "--threads", threads, *options)
            sums.add(hashlib.sha256((folder / "x.zip").read_bytes()).hexdigest())
        assert len(sums) == 1, options


@test
def packed_members_are_about_as_small_as_zlib_makes_them(folder):
    (folder / "text").write_bytes(words(1, 3 * MB))
    members = [("text", folder / "text", 0o100644, "packed")]
    said = archive(folder / "x.zip", members)
    pack = zlib.compressobj(6, zlib.DEFLATED, -15)
    whole = len(pack.compress((folder / "text").read_bytes()) + pack.flush())
    assert int(said[0][3]) < 1.02 * whole, (said[0][3], whole)


@test
def unzip_reads_it(folder):
    unzip = need("unzip")
    members = every_kind(folder)
    archive(folder / "x.zip", members, "--threads", 3)
    assert b"No errors detected" in run(unzip, "-tq", folder / "x.zip")
    run(unzip, "-q", folder / "x.zip", "-d", folder / "out")
    for name, source, mode, _ in members:
        got = folder / "out" / name
        assert got.read_bytes() == source.read_bytes() and got.stat().st_mode == mode, name


@test
def bsdtar_reads_it(folder):
    bsdtar = need("bsdtar")
    members = every_kind(folder)
    archive(folder / "x.zip", members)
    (folder / "out").mkdir()
    run(bsdtar, "-xf", folder / "x.zip", "-C", folder / "out", env=dict(os.environ, LC_ALL="C.UTF-8"))
    for name, source, _, _ in members:
        assert (folder / "out" / name).read_bytes() == source.read_bytes(), name


@test
def pip_installs_it(folder):
    """A wheel whose RECORD is made of the sums that were given back."""
    info = "thing-1.0.dist-info"
    (folder / "init").write_text("answer = 42\n")
    (folder / "blob").write_bytes(words(3, 3 * MB))
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
    (folder / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
                                  "Tag: py3-none-any\n")
    members = [("thing/__init__.py", folder / "init", 0o100644, "packed"),
               ("thing/blob", folder / "blob", 0o100755, "packed"),
               (f"{info}/METADATA", folder / "METADATA", 0o100644, "packed"),
               (f"{info}/WHEEL", folder / "WHEEL", 0o100644, "packed")]
    record = ""
    for line in archive(folder / "first.zip", members):
        sha = base64.urlsafe_b64encode(bytes.fromhex(line[0])).decode().rstrip("=")
        record += f"{line[4]},sha256={sha},{line[2]}\n"
    (folder / "RECORD").write_text(record + f"{info}/RECORD,,\n")
    wheel = folder / "thing-1.0-py3-none-any.whl"
    archive(wheel, members + [(f"{info}/RECORD", folder / "RECORD", 0o100664, "packed")])
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        raise Skip("no pip here")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target",
        folder / "site", wheel)
    assert (folder / "site/thing/blob").read_bytes() == (folder / "blob").read_bytes()
    assert os.access(folder / "site/thing/blob", os.X_OK)


@test
def seventy_thousand_members_are_all_there(folder):
    (folder / "small").write_bytes(words(2, 50))
    members = [(f"many/{i:06d}", folder / "small", 0o100644, "packed") for i in range(70000)]
    archive(folder / "x.zip", members, "--threads", 2)
    with zipfile.ZipFile(folder / "x.zip") as z:
        infos = z.infolist()
        assert len(infos) == 70000 and infos[69999].filename == "many/069999"
        for i in (0, 1, 35000, 65534, 65535, 65536, 69999):
            assert z.read(infos[i]) == (folder / "small").read_bytes()
    if shutil.which("unzip"):
        run("unzip", "-tq", folder / "x.zip")


@test
def a_file_that_is_shorter_than_it_says_leaves_nothing(folder):
    short = next((p for p in pathlib.Path("/sys/kernel/mm").rglob("*")
                  if p.is_file() and p.stat().st_size == 4096 and os.access(p, os.R_OK)), None)
    if short is None:
        raise Skip("no such file")
    done = subprocess.run([ZIP_TOOL, folder / "x.zip"], capture_output=True,
                          input=f"100644\tpacked\t{short}\tx\n".encode())
    assert done.returncode == 1 and b"cannot read" in done.stderr, done
    assert not list(folder.iterdir())


def memory_of(argv, lines):
    """Peak memory of the program in MB, by its own account."""
    done = subprocess.run([str(a) for a in argv], input=lines.encode(), capture_output=True,
                          check=True)
    return float(done.stderr.decode().rsplit("rss ", 1)[1].split()[0])


@test
def memory_does_not_grow_with_a_member(folder):
    if b"__tsan_init" in ZIP_TOOL.read_bytes():
        raise Skip("TSan keeps several bytes for each")
    size = (2048 if FULL else 64) * MB
    with open(folder / "big", "wb") as out:
        piece = words(7, MB) + noise(7, MB // 2)
        for at in range(0, size, len(piece)):
            out.write(piece[at // 1000 % 5000:])
    line = f"100644\tpacked\t{folder / 'big'}\tbig\n"
    for threads in (2, 16):
        peak = memory_of([ZIP_TOOL, "--threads", threads, "--level", 1, folder / "x.zip"], line)
        assert peak < 112, (threads, peak)


@test
def five_gigabytes_need_longer_numbers(folder):
    if not FULL:
        raise Skip("five gigabytes only in the full test")
    if shutil.disk_usage(folder).free < 12 << 30:
        raise Skip("no room for five gigabytes")
    with open(folder / "sparse", "wb") as out:
        out.truncate(5 << 30)
    (folder / "small").write_bytes(b"behind it")
    small = ("small", folder / "small", 0o100644, "packed")
    for how in ("stored", "packed"):
        members = [("sparse", folder / "sparse", 0o100644, how), small]
        said = archive(folder / "x.zip", members, "--threads", 2, "--level", 1)
        with zipfile.ZipFile(folder / "x.zip") as z:
            big, last = z.infolist()
            assert big.file_size == 5 << 30 and big.extract_version == 45
            assert int(said[0][3]) == big.compress_size
            assert z.testzip() is None
            assert z.read(last) == b"behind it"
            assert last.extract_version == (45 if how == "stored" else 20)
        if shutil.which("unzip"):
            run("unzip", "-tq", folder / "x.zip")


main()
