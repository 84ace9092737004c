"""A workbench in a thread of this process, where no test ends the server: it is there at once."""

from contextlib import contextmanager

from kernova.media.opening import open_project_data
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery
from tests.web.in_process import served
from tests.web.running import Running


@contextmanager
def nearby_workbench(data, *, missing="refuse", noun=None, multiple_labels=None, **words):
    """Serve a table and what there is to see of its rows, as ``kernova discover`` would."""
    project = data.with_name("rows.kernova-project")
    opened = open_project_data(project, data, missing=missing, **words)
    discovery = open_discovery(
        opened.table,
        project,
        missing=missing,
        notes=opened.notes,
        context=opened.context,
        noun=noun,
        multiple_labels=multiple_labels,
    )
    bench = Workbench(discovery, opened.media)
    bench.prepare()
    with served(bench) as client:
        address = str(client.base_url)
        server = Running(None, client.endpoint.new_link, address, str(project))
        server.wait_until_ready()
        yield server
