"""Report of a workbench, for download."""

from kernova.workbench.exports import Exports
from kernova.workbench.learning import Learning
from kernova.workbench.session_report.contents import contents_of, with_baseline
from kernova.workbench.shared import Part, SharedState


class SessionReport(Part):
    """Report of the session as one page.

    Parameters
    ----------
    shared : SharedState
        The session and its lock.
    exports : Exports
        Takes snapshots of the labels.
    learning : Learning
        The learnt model.

    Attributes
    ----------
    command : str
        The command that opened the project, for readers; empty where there is none.
    """

    command = ""

    def __init__(self, shared: SharedState, exports: Exports, learning: Learning) -> None:
        super().__init__(shared)
        self._exports = exports
        self._learning = learning

    def page(self) -> bytes:
        """Return the report as HTML."""
        # Not above: pictures are drawn by matplotlib, which the server would wait for at start.
        from kernova.workbench.session_report.page import session_page

        discovery = self._shared.discovery
        is_stale = self._learning.state().is_stale
        with self._shared.lock:
            contents = contents_of(
                discovery.session.results_,
                self._exports.snapshot(),
                str(discovery.project.name),
                discovery.notes,
                is_stale=is_stale,
                command=self.command,
            )
        return session_page(with_baseline(contents, discovery.encoded)).encode()
