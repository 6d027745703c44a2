"""`python -m retrograd` is the command rgc."""

import os
import sys

from ._command import program


def main() -> None:
    try:
        path = str(program())
    except FileNotFoundError as missing:
        sys.exit(str(missing))
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
