"""Append entries to a project; print the number of each after it is on disk."""

import os
import sys
import time

from kernova.discover.events import Record, RowsLabelled
from kernova.discover.project.content import ProjectHead
from kernova.discover.store import open_project

N_ROWS = 1000


def main(path):
    head = ProjectHead("f1ce", N_ROWS, 2, "random", 0)
    with open_project(path, head) as store:
        os.write(1, b"0\n")
        number = 0
        while True:
            number += 1
            rows = tuple(range(number % 40))
            store.append(Record(RowsLabelled((*rows, 999), "carp"), key=f"{number}"))
            os.write(1, b"%d\n" % number)
            time.sleep(0.001)  # so that the file does not outgrow those who copy it


if __name__ == "__main__":
    main(sys.argv[1])
