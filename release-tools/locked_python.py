"""Exit with a sentence if a lock file was made for another version of Python than this one."""

import re
import sys
from pathlib import Path


def main(path: str) -> str | None:
    """Return what is wrong, None if the lock file is for this Python."""
    wanted = re.search(r"^# Resolved for Python (\d+\.\d+)", Path(path).read_text(), re.MULTILINE)
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if wanted is None:
        return f"{path} does not say for which Python it is; write it anew with make lock."
    if wanted[1] != here:
        return (
            f"{path} is for Python {wanted[1]}, and this is {here}: leave out LOCKED=1, or name "
            f"the other with PYTHON=python{wanted[1]} after make clean."
        )
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
