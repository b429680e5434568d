#!/usr/bin/env python3
"""tutorial.py [PAGE] - types the commands of docs/tutorial.md and compares what they print.

A block that begins with ```console has commands behind '$ ' (further lines of one behind '> ') and
what they print. A line '...' matches any lines, '...' inside a line for anything. Numbers with a
point or a unit of time may be others; whole numbers, words and their order may not. A command ends
with status 0, unless the next one is 'echo $?'. 'needs=' names what a block cannot do without. Warnings
about times are passed over: a busy machine has odd ones.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["ROCKIT_SOURCE_DIR"])
ROCKIT = pathlib.Path(os.environ["ROCKIT"])
TIMES_WARNING = re.compile(r"rockit \w+: (warning: .*\b(start|end|time|overlap)|kernels that start before )")
END = "-- end of command"
# What may be another: 414.9 ms, +95.25 or 961 ns; 1,600 may not.
QUANTITY = re.compile(r"[-+]?\d[\d,]*\.\d+(?: (?:ns|us|ms|s)\b)?|[-+]?\d[\d,]* (?:ns|us|ms|s)\b")


def blocks(text):
    """Each block: what it needs, its commands, each with the lines it prints."""
    for head, body in re.findall(r"^```console(.*?)\n(.*?)^```$", text, re.M | re.S):
        commands = []
        for line in body.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif line.startswith("> "):
                command, printed = commands.pop()
                commands.append((command + "\n" + line[2:], printed))
            else:
                commands[-1][1].append(line)
        yield head.strip().replace("needs=", ""), commands


def pattern_of(line):
    """A regular expression for a line; blanks and bars have any length."""
    out = ""
    for part in re.split(r"(\.\.\.)", line.strip()):
        if part == "...":
            out += ".*"
            continue
        at = 0
        for match in QUANTITY.finditer(part):
            out += re.escape(part[at:match.start()]) + "[-+]?QUANTITY"
            at = match.end()
        out += re.escape(part[at:])
    out = re.sub(r"(\\ |\\?▇)+", r"[ ▇]+", out)
    out = out.replace("]+\\*[", "]+[*~?][")  # how sure 'diff' is of a change
    return re.compile(out.replace("QUANTITY", r"\d[\d,.]*(?: (?:ns|us|ms|s)\b)?"))


def matches(want, got):
    """Whether the printed lines are those of the page, which may leave lines out."""
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and bool(pattern_of(want[0]).fullmatch(got[0].strip())) and matches(want[1:], got[1:])


class Bash:
    def __init__(self, folder, env):
        self.process = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, cwd=folder, env=env)

    def type(self, command):
        """What it prints, and its exit status, which the next command sees in $?."""
        self.process.stdin.write(f"{command}\nrc=$?; echo; echo '{END}' $rc; (exit $rc)\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith(END):
                break
            lines.append(line.rstrip("\n"))
        else:
            raise SystemExit(f"bash has ended at: {command}")
        if lines and not lines[-1]:
            lines.pop()
        return lines, int(line[len(END):])


def lacking(need, env):
    if need == "duckdb":
        return subprocess.run(["python3", "-c", "import duckdb"], env=env, capture_output=True).returncode
    if need == "python":
        return not pathlib.Path(env["ROCKIT_LIBRARY"]).exists()
    if need == "no-gpu":
        run = subprocess.run([ROCKIT, "doctor", "--format", "json"], env=env, capture_output=True, text=True)
        return bool(json.loads(run.stdout)["gpus"])
    if need == "pack":
        run = subprocess.run([ROCKIT, "pack", "verify", "."], env=env, capture_output=True, text=True)
        return "built without libarchive" in run.stderr
    if need:
        raise SystemExit(f"tutorial.py: nobody knows what '{need}' is")
    return False


def surroundings(folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "OMPI", "PMI", "ROCKIT"))}
    python = pathlib.Path(os.environ.get("ROCKIT_PYTHON") or "/usr/bin/python3").parent
    env.update(PATH=f"{ROCKIT.parent}:{python}:/usr/bin:/bin", ROCKIT_SRC=str(ROOT), HOME=folder, COLUMNS="100",
               LC_ALL="C.UTF-8", PYTHONPATH=str(ROOT / "python"), PYTHONDONTWRITEBYTECODE="1",
               ROCKIT_LIBRARY=str(ROCKIT.parent / "librockit.so"))
    env.pop("RANK", None)
    return env


def fault_of(command, want, got, status, asked):
    if status and not asked:
        return f"$ {command}\nended with status {status}:\n" + "\n".join(got)
    if not matches(want, [line for line in got if not TIMES_WARNING.match(line)]):
        return f"$ {command}\nis to print\n" + "\n".join(want) + "\nbut printed\n" + "\n".join(got)
    return None


def check_itself():
    """What differs is seen to differ."""
    line = " 95.25 ▇▇▇  395.2 ms  1,600  gemm"
    assert matches([line], [" 5.1 ▇  39 us  1,600  gemm"])
    assert matches(["...", line], ["a", "b", line]) and matches([line, "..."], [line])
    for other in (line.replace("1,600", "1,601"), line.replace("gemm", "gem"), line + " x", line[7:]):
        assert not matches([line], [other]), other
    assert not matches([line], []) and not matches([line], [line, line]) and not matches([], [line])


def main():
    check_itself()
    page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/tutorial.md"
    for part in ("example-inference", "librockit-opencl.so"):
        if not (ROCKIT.parent / part).exists():
            print(f"no {part}: OpenCL was not built", file=sys.stderr)
            return 77
    faults, count, skipped = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="rockit-tutorial-") as folder:
        env = surroundings(folder)
        bash = Bash(folder, env)
        for need, commands in blocks(page.read_text()):
            if lacking(need, env):
                skipped += 1
                continue
            for i, (command, want) in enumerate(commands):
                asked = i + 1 < len(commands) and commands[i + 1][0] == "echo $?"
                faults.append(fault_of(command, want, *bash.type(command), asked))
                count += 1
        bash.process.stdin.close()
        bash.process.wait()
    faults = [f for f in faults if f]
    print("\n\n".join(faults))
    print(f"{page.name}: {count} commands, {len(faults)} faults, {skipped} blocks left out")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
