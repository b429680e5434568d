#!/usr/bin/env python3
"""completion.py - bash, zsh and fish offer what the tables of the command have, and quote it.

Each shell runs in a terminal, is typed into, and asked for its line after a tab.
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import libshell
from libshell import ROCKIT, out

ROOT = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
PRESETS = ["my own", "it's"]

# What is typed, and the line after a tab. The words are right in every shell; what follows
# them (a blank, a slash) is each shell's own.
LINES = [
    ("rockit conv", "rockit convert"),
    ("rockit report --hot", "rockit report --hotspots"),
    ("rockit report --by pro", "rockit report --by process"),
    ("rockit report --by=pro", "rockit report --by=process"),
    ("rockit convert --table ker", "rockit convert --table kernels"),
    ("rockit run --tool opencl -p lightw", "rockit run --tool opencl -p lightweight"),
    ("rockit run -p my", "rockit run -p my\\ own"),
    ("~/bin/rockit run -p lightw", "~/bin/rockit run -p lightweight"),
    ("rockit presets my", "rockit presets my\\ own"),
    ("rockit run -p it", "rockit run -p it\\'s"),
    ("rockit run -c @cac", "rockit run -c @cache"),
    ("rockit counters --plan @cache,@ld", "rockit counters --plan @cache,@lds"),
    ("rockit counters --plan=@cache,@ld", "rockit counters --plan=@cache,@lds"),
    ("rockit monitor --metrics power,vr", "rockit monitor --metrics power,vram"),
    ("rockit pack bu", "rockit pack build"),
    ("rockit pack build --devel-compression x", "rockit pack build --devel-compression xz"),
    ("rockit slurm submit --launcher torch", "rockit slurm submit --launcher torchrun"),
    ("rockit slurm collect --for", "rockit slurm collect --format"),
    ("rockit help pack ver", "rockit help pack verify"),
    ("rockit help form", "rockit help formats"),
    ("rockit completion fi", "rockit completion fish"),
    ("rockit report a", "rockit report a\\ b.csv"),
    ("rockit report -o x", "rockit report -o x.csv"),
    ("rockit run -d o", "rockit run -d odd\\ dir/"),
    ("rockit pack index o", "rockit pack index odd\\ dir/"),
    ("rockit run -p memory -- cksu", "rockit run -p memory -- cksum"),
    ("rockit run -p memory cksum x", "rockit run -p memory cksum x.csv"),
    ("rockit run --timeout 3 -- cksum x", "rockit run --timeout 3 -- cksum x.csv"),
]
# In shells that complete inside of quotes, too.
QUOTED = [
    ('rockit run -p "my', 'rockit run -p "my own"'),
    ("rockit run -p 'my", "rockit run -p 'my own'"),
    ("rockit run --preset=my\\ o", "rockit run --preset=my\\ own"),
    ("rockit report do", "rockit report do\\$lar.csv"),
]
# Where nothing of ours may be offered: the line stays.
STAYS = ["rockit report -- --hot", "rockit run -- ./app --pre", "rockit nosuch --he",
         "rockit run --timeout x", "$(touch made)/rockit run -p li"]


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        top = pathlib.Path(cls.place.name)
        cls.folder = top / "here"
        (cls.folder / "odd dir").mkdir(parents=True)
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin/rockit").symlink_to(ROCKIT)
        for name in ("a b.csv", "x.csv", "do$lar.csv"):
            (cls.folder / name).touch()
        presets = top / "config/rockit/presets"
        presets.mkdir(parents=True)
        for name in PRESETS:
            text = (ROOT / "data/presets/lightweight.json").read_text()
            (presets / f"{name}.json").write_text(text)
        os.environ["XDG_CONFIG_HOME"] = str(top / "config")
        cls.scripts = {}
        for shell, name in libshell.SCRIPT.items():
            cls.scripts[shell] = top / name
            cls.scripts[shell].write_text(out(ROCKIT, "completion", shell))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def wanted(self):
        """For each verb, how its options begin to be typed, and all of them."""
        for verb in libshell.all_verbs():
            yield verb, libshell.options_of_help(out(ROCKIT, *verb, "--help"))

    def in_terminal(self, name):
        if not libshell.have(name):
            self.skipTest(f"no {name} here")
        shell = libshell.Shell(name, self.scripts[name], str(self.folder))
        self.addCleanup(shell.close)
        return shell

    def lines(self, name):
        shell = self.in_terminal(name)
        for typed, want in LINES + QUOTED:
            with self.subTest(typed=typed):
                line, _ = shell.complete(typed)
                self.assertEqual(line.rstrip(" ,="), want)
        for typed in STAYS:
            with self.subTest(typed=typed):
                self.assertEqual(shell.complete(typed)[0].rstrip(), typed)
        self.assertFalse((self.folder / "made").exists(), "what was typed was run before Enter")

    def options(self, name):
        shell = self.in_terminal(name)
        for verb, want in self.wanted():
            with self.subTest(verb=verb):
                _, listed = shell.complete(f"rockit {' '.join(verb)} -")
                self.assertEqual(set(libshell.OPTION.findall(self.offered(listed))) - {"--"}, want)

    @staticmethod
    def offered(listed):
        """A listing without its descriptions: zsh writes 'words  -- description'."""
        return "\n".join(re.split(r"\s--\s", line)[0] for line in listed.splitlines()[1:])

    def test_bash_completes_words_and_names(self):
        self.lines("bash")

    def test_zsh_completes_words_and_names(self):
        self.lines("zsh")

    def test_bash_offers_every_option(self):
        self.options("bash")

    def test_zsh_offers_every_option(self):
        self.options("zsh")

    def fish(self, lines):
        if not libshell.have("fish"):
            self.skipTest("no fish here")
        return libshell.fish(self.scripts["fish"], str(self.folder), lines)

    def test_fish_completes_words_and_names(self):
        for (typed, want), words in zip(LINES, self.fish([typed for typed, _ in LINES])):
            with self.subTest(typed=typed):
                last = want[typed.rindex(" ") + 1:]  # fish quotes what it puts into the line
                self.assertIn(last.replace("\\", ""), words)
        for typed, words in zip(STAYS, self.fish(STAYS)):
            with self.subTest(typed=typed):
                self.assertEqual([], words)

    def test_fish_offers_every_option(self):
        verbs = list(self.wanted())
        for (verb, want), words in zip(verbs, self.fish([f"rockit {' '.join(v)} -" for v, _ in verbs])):
            with self.subTest(verb=verb):
                self.assertEqual({w for w in words if w.startswith("-")}, want)

    def test_lists_are_those_of_the_data(self):
        def offered(*words):
            return out(ROCKIT, "help", "--words", "--", *words).split()
        counters = ROOT / "data/counters"
        sets = {p.stem for p in counters.glob("*.txt")} - {"table", "renames", "categories"}
        lines = (counters / "categories.txt").read_text().splitlines()
        sets |= {"@" + line.split()[0] for line in lines if line and line[0] != "#"}
        self.assertEqual(set(offered("run", "-c")), sets)
        self.assertEqual(set(offered("counters", "--plan")), sets)
        for verb in ("run", "counters"):
            told = re.search(r"^categories:(.*?);.*?^sets:(.*?)\n\n", out(ROCKIT, verb, "--help"), re.M | re.S)
            self.assertEqual(set(" ".join(told.groups()).split()), sets)
        groups = re.findall(r'"group":\s*"(\w+)"',
                            "".join(p.read_text() for p in (ROOT / "data/metrics").glob("*.json")))
        self.assertEqual(set(offered("metrics", "--group")), set(groups))
        plan = [ROCKIT, "run", "-q", "--tool", "rocprofv3", "--tool-version", "7.0", "--arch", "gfx942",
                "--dry-run"]
        for option in ("--trace", "--library-trace", "--monitor", "--preset"):
            for word in offered("run", option):
                if word not in {w for name in PRESETS for w in name.split()}:
                    out(*plan, option, word, "--", "true")

    def test_scripts_hold_nothing_of_this_machine(self):
        for shell, script in self.scripts.items():
            with self.subTest(shell=shell):
                self.assertNotIn("my own", script.read_text())


if __name__ == "__main__":
    unittest.main(verbosity=1)
