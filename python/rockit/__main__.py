"""The `rockit` command inside the wheel: `rockit ...` or `python -m rockit ...`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    # Found without the library: a command that fails to load it should still say its version.
    here = os.path.dirname(os.path.abspath(__file__))
    command = os.environ.get("ROCKIT_COMMAND") or os.path.join(here, "_native", "bin", "rockit")
    try:
        os.execv(command, ["rockit", *sys.argv[1:]])
    except OSError as why:
        print(f"rockit: cannot run '{command}': {why.strerror}", file=sys.stderr)
    return 125


if __name__ == "__main__":
    sys.exit(main())
