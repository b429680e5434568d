"""What the scripts for a machine with an NVIDIA GPU share: their arguments, and telling how cases went."""
import argparse
import pathlib
import sys
import tempfile


def arguments(doc, name):
    """The arguments, and a folder of their own for what is made."""
    p = argparse.ArgumentParser(description=doc.split("\n")[0])
    p.add_argument("--rockit", required=True)
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--nvcc", default="/usr/local/cuda/bin/nvcc")
    return p.parse_args(), pathlib.Path(tempfile.mkdtemp(prefix=f"rockit-{name}-"))


def tell(cases):
    """Calls each, prints a line for it, and gives the exit status."""
    failed = 0
    for name, run in cases.items():
        try:
            print(f"ok   {name}: {run()}", flush=True)
        except Exception as e:  # noqa: BLE001 - the next case is tried
            failed += 1
            print(f"FAIL {name}: {e}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0
