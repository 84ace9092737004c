"""Who is at the workbench, while others come and go."""

import sys
import threading

from kernova.workbench.shared import Presence


def test_names_can_be_read_while_others_come():
    presence = Presence(clock=lambda: 0.0)
    coming = threading.Thread(
        target=lambda: [presence.heard_of(f"expert {place}") for place in range(30_000)]
    )
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        coming.start()
        while coming.is_alive():
            assert len(presence.names) <= 30_000
    finally:
        coming.join()
        sys.setswitchinterval(before)
    assert len(presence.names) == 30_000
