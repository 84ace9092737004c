"""The workbench: everything that a page or a script can do with a discovery under way."""

from typing import Any

from kernova.discover.names import category_name, expert_name
from kernova.media.row_media import RowMedia
from kernova.progress import Listener
from kernova.workbench.asking import Corrections, Questions
from kernova.workbench.cards import Cards
from kernova.workbench.discovery import Discovery
from kernova.workbench.history import Downloads, History
from kernova.workbench.learning import Learning
from kernova.workbench.overview import Overview
from kernova.workbench.row_map import MapOfRows
from kernova.workbench.shared import BackgroundJob, Desk, Presence


class Workbench:
    """A discovery that several experts work on at once.

    All methods of all parts may be called from any thread; they give plain values.

    Parameters
    ----------
    discovery : Discovery
        The table and its session, as from :func:`kernova.workbench.discovery.open_discovery`.
    media : RowMedia, optional
        Pictures, sounds or outlines of the rows.
    presence : Presence, optional
        Who is there; by default, a question waits 15 minutes for its expert.

    Attributes
    ----------
    questions, corrections, cards, history, map, learning, downloads : object
        The parts, one for each idea.
    """

    def __init__(
        self,
        discovery: Discovery,
        media: RowMedia | None = None,
        presence: Presence | None = None,
    ) -> None:
        self.discovery = discovery
        self.media = RowMedia(discovery.session.ids_) if media is None else media
        self.desk = Desk(discovery)
        self.presence = Presence() if presence is None else presence
        self.preparation: BackgroundJob[None] = BackgroundJob(self.desk.changed)
        self.cards = Cards(self.desk, self.media)
        self.questions = Questions(self.desk, self.cards, self.presence, self.preparation)
        self.corrections = Corrections(self.desk, self.questions)
        self.history = History(self.desk)
        self.map = MapOfRows(self.desk)
        self.learning = Learning(self.desk)
        self.downloads = Downloads(self.desk)
        self.overview = Overview(
            self.desk, self.presence, self.preparation, self.learning.state, self.media.kind
        )

    def prepare(self, watch: Listener | None = None) -> None:
        """Begin, in the background, what the first question and the map need.

        Parameters
        ----------
        watch : callable, optional
            Told how far it is.
        """
        self.preparation.start(self.discovery.prepare, watch)
        self.map.prepare(after=self.preparation)

    def is_ready(self) -> bool:
        """Tell whether the strategy can be asked for questions."""
        return self.preparation.state == "ready"

    # --- what concerns several parts -------------------------------------------------------

    def join(self, name: str) -> dict[str, Any]:
        """Let an expert sit down under a name."""
        expert = expert_name(name)
        self.presence.heard_of(expert)
        self.desk.changed()
        return {"name": expert}

    def question(
        self, expert: str | None, row: int | None = None, source: str = "strategy"
    ) -> dict[str, Any]:
        """Give an expert a question: about a row, one that is unknown, or the strategy's."""
        expert = expert_name(expert)
        if row is not None or source == "strategy":
            return self.questions.question(expert, row)
        with self.desk.lock:
            unknown = self.learning.next_unknown()
            if unknown is None:
                return {"question": None, "message": "No unknown row is left to be asked."}
            return self.questions.question(expert, unknown.row, unknown.reason)

    def state(self, since: int | None = None, expert: str | None = None) -> dict[str, Any]:
        """Give everything that changes; a sign of life of the expert, if one is named."""
        return self.overview.state(since, expert_name(expert))

    def rename(self, expert: str | None, old: str, new: str, key: str | None) -> dict[str, Any]:
        """Give a category another name; it keeps its colour."""
        with self.desk.lock:  # whoever looked in between would see another colour
            said = self.corrections.rename(expert, old, new, key)
            self.overview.rename(category_name(old), category_name(new))
        return said

    def close(self) -> None:
        """Let go of the project and of all files; everything is on the disk already."""
        with self.desk.lock:
            self.discovery.session.close()
        self.media.close()
