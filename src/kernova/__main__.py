"""``python -m kernova`` is the same as ``kernova``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is being read leaves without a word."""
    try:
        from kernova.cli.app import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
