"""``python -m kernova`` is the same as ``kernova``."""

from kernova.cli.app import main

if __name__ == "__main__":
    main()
