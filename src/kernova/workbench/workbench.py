"""Workbench of a discovery project: one object that several experts use at the same time."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Annotated, Final, cast

from kernova.discover.names import category_name, expert_name
from kernova.media.row_media import RowMedia
from kernova.progress import Listener, Stage
from kernova.workbench.asking import Corrections, QuestionReply, Questions, Request
from kernova.workbench.cards import Cards
from kernova.workbench.colleagues.browsers import Browsers, Doubt
from kernova.workbench.colleagues.overlap import Overlap
from kernova.workbench.discovery import Discovery
from kernova.workbench.history import Exports, History
from kernova.workbench.learning import Learning
from kernova.workbench.overview import Overview, StateReply, UnchangedReply
from kernova.workbench.row_map import MapOfRows
from kernova.workbench.session_report.part import SessionReport
from kernova.workbench.shared import BackgroundJob, PartKind, Presence, SharedState

# What the default strategy reports in preparation, and about how long that takes.
_STAGES: Final = (Stage("", 0.1), Stage("finding neighbours", 0.6), Stage("", 0.3))


@dataclass(frozen=True)
class ExpertReply:
    """An expert's name in its normalised form, and whether the expert is registered under it."""

    name: str
    doubt: Annotated[Doubt | None, "Why the name may be the wrong one; then nobody is registered."]


class Workbench:
    """Discovery project that several experts work on at once.

    All methods of all parts may be called from any thread. They return frozen dataclasses of plain
    values, from which :mod:`kernova.web.schemas` derives the JSON replies.

    Parameters
    ----------
    discovery : Discovery
        The table and its session, from :func:`kernova.workbench.discovery.open_discovery`.
    media : RowMedia, optional
        Pictures, sounds or outlines of the rows.
    presence : Presence, optional
        The active experts; by default, a question is reserved for 15 minutes.

    Attributes
    ----------
    questions, corrections, cards, overview, history, map, learning, exports, report : object
        The parts, one for each view. Further parts come from :meth:`part`.
    overlap : Overlap
        The rows that several experts are asked about.
    browsers : Browsers
        The browsers in which experts work.
    """

    def __init__(
        self,
        discovery: Discovery,
        media: RowMedia | None = None,
        presence: Presence | None = None,
    ) -> None:
        self.discovery = discovery
        self.media = RowMedia(discovery.session.ids_) if media is None else media
        self.shared = SharedState(discovery)
        self.presence = Presence() if presence is None else presence
        self.browsers = Browsers(self.presence.clock)
        self.preparation: BackgroundJob[None] = BackgroundJob(self.shared.changed)
        self.cards = Cards(self.shared, self.media)
        self.overlap = self.part(Overlap)
        self.questions = Questions(
            self.shared, self.cards, self.presence, self.preparation, self.overlap
        )
        self.corrections = Corrections(self.shared)
        self.history = self.part(History)
        self.map = self.part(MapOfRows)
        self.learning = self.part(Learning)
        self.exports = Exports(self.shared, self.media, self.learning.model)
        self.report = SessionReport(self.shared, self.exports, self.learning)
        self.shared.keep(self.exports)
        self.shared.keep(self.report)
        self.overview = Overview(
            self.shared,
            self.presence,
            self.preparation,
            self.learning.state,
            self.media.kind,
            self.overlap,
        )

    def part(self, kind: type[PartKind]) -> PartKind:
        """Return the part of a class, made from the shared state on first use.

        A new view needs no change here: its routes call ``workbench.part(NewView)``.
        """
        return self.shared.part(kind)

    def prepare(self, watch: Listener | None = None) -> None:
        """Start the preparation of the first question and of the map, in the background.

        What can be learnt from the labels is learnt in the background, from now on after changes.

        Parameters
        ----------
        watch : callable, optional
            Receives progress reports.
        """
        self.preparation.start(self.discovery.prepare, watch, _STAGES)
        self.map.prepare(after=self.preparation)
        self.learning.follow(after=self.preparation)

    def is_ready(self) -> bool:
        """Return whether the strategy can be asked for questions."""
        return self.shared.is_ready(self.preparation)

    # --- operations that concern several parts -----------------------------------------------

    def join(
        self,
        name: str,
        browser: str | None = None,
        *,
        is_same: bool = False,
        invited: Collection[str] = (),
    ) -> ExpertReply:
        """Register an expert under a name, unless it may be the wrong one.

        Parameters
        ----------
        name : str
            The name.
        browser : str, optional
            Identifies the browser; a script has none and is not questioned.
        is_same : bool
            Whether the expert has confirmed to be the person of that name.
        invited : collection of str
            Names of invited experts, which nobody else can take.
        """
        expert = cast(str, expert_name(name))
        doubt = self.browsers.doubt(expert, browser, self.expert_names(), invited)
        if doubt is not None and not (is_same and doubt.kind != "invited"):
            return ExpertReply(expert, doubt)
        self.browsers.mark(expert, browser)
        self.presence.mark_active(expert)
        self.shared.changed()
        return ExpertReply(expert, None)

    def expert_names(self) -> list[str]:
        """Return all names of experts, of entries and of those who are here."""
        with self.shared.lock:
            authors = dict.fromkeys(one.by for one in self.discovery.session.records_)
        return [name for name in dict.fromkeys([*authors, *self.presence.names]) if name]

    def question(
        self, expert: str | None, row: int | None = None, source: str = "strategy"
    ) -> QuestionReply:
        """Return a question for an expert: about a given row, an unknown row, or the strategy's.

        With the source "overlap" it is about a row that another expert has labelled.
        """
        expert = expert_name(expert)
        if row is None and source == "overlap":
            return self.questions.comparison(expert)
        if row is not None or source == "strategy":
            return self.questions.question(expert, row)
        with self.shared.lock:
            unknown = self.learning.next_unknown()
            if unknown is None:
                return QuestionReply(None, "No unknown rows are left to ask about.")
            return self.questions.question(expert, unknown.row, unknown.reason)

    def state(
        self, since: int | None = None, expert: str | None = None
    ) -> StateReply | UnchangedReply:
        """Return everything that changes; naming an expert marks them as active."""
        return self.overview.state(since, expert_name(expert))

    def unchanged(
        self, since: int | None = None, expert: str | None = None
    ) -> UnchangedReply | None:
        """Return the version if nothing has changed since, without waiting for the session."""
        return self.overview.unchanged(since, expert_name(expert))

    def rename(self, expert: str | None, old: str, new: str, key: str | None) -> Request:
        """Request that a category is renamed; it keeps its colour."""
        request = self.corrections.rename(expert, old, new, key)

        def write() -> int:
            number = request.write()
            self.overview.rename(category_name(old), category_name(new))
            return number

        return replace(request, write=write)

    def close(self) -> None:
        """Close the project and all media files; every answer is on disk already."""
        self.learning.stop()
        with self.shared.lock:
            self.discovery.session.close()
        self.media.close()
