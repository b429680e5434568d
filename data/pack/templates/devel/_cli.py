"""python -m rocm_sdk_devel._cli: unpacks the development files and prints where they are."""

import sys


def main():
    try:
        from rocm_sdk.__main__ import main as rocm_sdk
    except ImportError:
        sys.exit("the package `rocm` is not installed: pip install 'rocm[devel]==@VERSION@'")
    rocm_sdk(["path", "--root"])


if __name__ == "__main__":
    main()
