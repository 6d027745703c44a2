"""`python -m retrograd` is the command rgc."""

import os
import sys
from pathlib import Path


def main() -> None:
    here = Path(__file__).parent
    program = next((p for p in (here / "rgc", here.parent.parent / "rgc") if p.exists()), None)
    if program is None:
        sys.exit("retrograd: the command rgc is not part of this installation")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
