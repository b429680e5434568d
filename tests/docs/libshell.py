"""libshell.py - shells as somebody types into them: each in a terminal of its own."""
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
import time

ROCKIT = os.environ.get("ROCKIT", "rockit")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*|-[A-Za-z])(?![\w-])")
SCRIPT = {"bash": "rockit", "zsh": "_rockit", "fish": "rockit.fish"}


def out(*argv, **more):
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60, **more).stdout


def options_of_help(text):
    """From lines that begin with an option, the part before the description."""
    found = set()
    for line in text.splitlines():
        match = re.match(r"\s+(-.*)", line)
        if match:
            found.update(OPTION.findall(re.split(r"\s{2,}", match.group(1))[0]))
    return found


def verbs_of_help(text):
    part = re.search(r"^verbs:\n((?:  .*\n)+)", text, re.M)
    return [line.split()[0] for line in part.group(1).splitlines()] if part else []


def all_verbs():
    """Every verb as its words, those of groups included, groups themselves not."""
    for verb in verbs_of_help(out(ROCKIT, "help")):
        inner = verbs_of_help(out(ROCKIT, verb, "--help"))
        yield from ([verb, word] for word in inner) if inner else [[verb]]


class Shell:
    """`bash` or `zsh` with the completion script loaded and nothing else."""

    def __init__(self, name, script, folder):
        self.name = name
        self.where = os.path.dirname(ROCKIT)
        argv = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[name]
        env = {"PATH": f"{self.where}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "", "HOME": folder,
               "INPUTRC": os.devnull, "LC_ALL": "C.UTF-8", "HISTFILE": "",
               "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME", folder)}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 400, 250, 0, 0))
        for line in getattr(self, "begin_" + name)(script):
            self.say(line + "\n")
        self.say("printf '%s\\n' re''ady\n")
        self.wait_for("ready\r\n")

    @staticmethod
    def begin_bash(script):
        yield "stty -echo rows 400 cols 250; PS1="
        yield "bind 'set completion-query-items 0'; bind 'set page-completions off'"
        yield "bind 'set show-all-if-ambiguous on'; bind 'set enable-bracketed-paste off'"
        yield "bind 'set bell-style none'"
        yield "bind -x '\"\\C-xp\": printf \"<<%s>>\\n\" \"$READLINE_LINE\"'"
        yield f". {script}"

    @staticmethod
    def begin_zsh(script):
        yield "stty rows 400 cols 250; PS1=; PROMPT_EOL_MARK=; LISTMAX=10000; unsetopt beep"
        yield "autoload -Uz compinit; compinit -D -u"
        yield "show() { print -r -- \"<<$BUFFER>>\" }; zle -N show; bindkey '^Xp' show"
        yield "bindkey '^U' kill-whole-line"
        yield f". {script}"

    def say(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, text, limit_s=30):
        got = ""
        end = time.monotonic() + limit_s
        while text not in got:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"{self.name} did not print {text!r}; it printed {got!r}")
            got += os.read(self.fd, 65536).decode(errors="replace")
        return got

    def complete(self, typed):
        """The line after a tab, and all that was printed on the way."""
        self.say(typed + "\t\x18p")
        got = self.wait_for(">>")
        self.say("\x15")
        line = got[got.rindex("<<") + 2:got.rindex(">>")]
        return line, got[:got.rindex("<<")]

    def close(self):
        self.say("\x15exit\n")
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def fish(script, folder, lines):
    """What fish offers for each of the lines: words, in order."""
    text = f"source {script}\n"
    for line in lines:
        quoted = line.replace("\\", "\\\\").replace("'", "\\'")
        text += f"complete -C '{quoted}'; echo '-- end'\n"
    env = {"PATH": f"{os.path.dirname(ROCKIT)}:{os.environ['PATH']}", "HOME": folder, "LC_ALL": "C.UTF-8",
           "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME", folder), "TERM": "dumb"}
    got = out("fish", "--no-config", "-c", text, cwd=folder, env=env)
    parts = got.split("-- end\n")[:-1]
    return [[word.split("\t")[0] for word in part.splitlines()] for part in parts]


def have(name):
    return shutil.which(name) is not None
