"""Entry point of ``python -m kernova``, the same as ``kernova``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while modules are imported exits without a message."""
    try:
        from kernova.cli.app import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
