"""Work for other processes; a light module, since each of them imports it."""

import os
import time


def squares(numbers):
    """Yield the square of each number of a task; negative ones end the process."""
    for number in numbers:
        if number < 0:
            os._exit(-number)
        yield number**2, os.getpid()


def endless(_):
    """Yield once, then never again."""
    yield os.getpid()
    time.sleep(3600)
