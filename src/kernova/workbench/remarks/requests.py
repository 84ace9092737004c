"""Requests to note something beside the labels: notes, flags, further labels, headings, keys."""

from collections.abc import Callable, Hashable, Iterable

from kernova.discover.names import category_name, expert_name
from kernova.discover.review import Review
from kernova.errors import InputError, quoted
from kernova.workbench.asking import Request
from kernova.workbench.messages import Subject
from kernova.workbench.shared import Part


class Annotating(Part):
    """Notes, flags and further labels of rows; headings and keys of categories; options.

    None of it changes which questions are asked, and each can be undone.
    """

    def note(self, expert: str | None, row: int, text: str | None, key: str | None) -> Request:
        """Record a remark on a row in place of an earlier one; None removes it."""
        row_id = self._id(row)

        def write() -> int:
            return self._review.note(row_id, text, expert=expert, key=key)

        return _request(expert, key, Subject(row), write)

    def flag(self, expert: str | None, rows: list[int], is_on: bool, key: str | None) -> Request:
        """Flag rows for later, or remove their flags."""
        ids = [self._id(row) for row in rows]

        def write() -> int:
            return self._review.flag(ids, is_on, expert=expert, key=key)

        return _request(expert, key, Subject(rows[0]), write)

    def tag(
        self, expert: str | None, rows: list[int], label: str, is_on: bool, key: str | None
    ) -> Request:
        """Add a further label to rows beside their category, or remove it."""
        ids, name = [self._id(row) for row in rows], category_name(label)

        def write() -> int:
            if is_on:
                self._check_further(rows, name)
            return self._review.tag(ids, name, is_on, expert=expert, key=key)

        return _request(expert, key, Subject(rows[0], name), write)

    def group(
        self, expert: str | None, names: list[str], under: str | None, key: str | None
    ) -> Request:
        """Put categories under a heading, or with None under none."""

        def write() -> int:
            self._check_categories(names)
            return self._review.group(names, under, expert=expert, key=key)

        return _request(expert, key, Subject(), write)

    def choose_key(
        self, expert: str | None, name: str, letter: str | None, key: str | None
    ) -> Request:
        """Assign a key of the keyboard to a category; None for no key."""

        def write() -> int:
            self._check_categories([name])
            return self._review.choose_key(name, letter, expert=expert, key=key)

        return _request(expert, key, Subject(None, category_name(name)), write)

    def allow_further_labels(self, expert: str | None, is_on: bool, key: str | None) -> Request:
        """Let rows have labels beside their category, or no longer."""
        value = "on" if is_on else "off"

        def write() -> int:
            return self._review.set_option("further labels", value, expert=expert, key=key)

        return _request(expert, key, Subject(), write)

    @property
    def _review(self) -> Review:
        return self._shared.session.review

    def _id(self, row: int) -> Hashable:
        self._shared.check_rows([row])
        row_id: Hashable = self._shared.session.ids_[row]
        return row_id

    def _check_further(self, rows: Iterable[int], name: str) -> None:
        if not self._shared.discovery.has_further_labels:
            raise InputError(
                "This project gives each row one label. Allow further labels in the Categories "
                "view, or start kernova discover with --multiple-labels."
            )
        label_of = self._shared.session.label_of
        if all(label_of(row) == name for row in rows):
            raise InputError(f"{quoted(name)} is the category already; choose another label.")

    def _check_categories(self, names: Iterable[str]) -> None:
        for name in map(category_name, names):
            if not self._shared.session.results_.has_category(name):
                raise InputError(
                    f"There is no category {quoted(name)}: it has been renamed, merged or deleted "
                    "meanwhile, or no row has this label."
                )


def _request(
    expert: str | None, key: str | None, subject: Subject, write: Callable[[], int]
) -> Request:
    return Request(expert_name(expert), key, subject, write)
