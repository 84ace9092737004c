"""``kernova discover --add``: projects opened by their file alone, and batches of new rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from kernova.cli.console import (
    console,
    page_target,
    print_error,
    print_json,
    progress_bars,
    table_target,
    write_targets,
)
from kernova.cli.discover.ending import DISPLACED

if TYPE_CHECKING:
    from kernova.cli.terminal import EscapingConsole
    from kernova.workbench.growing import BatchResult, GrowingProject


class Named(NamedTuple):
    """The project and the table that a command names."""

    project: Path
    data: Path | None

    @classmethod
    def of(cls, data: Path | None, project: Path | None) -> "Named":
        """Return the project that is meant: DATA may be one itself."""
        from kernova.errors import InputError
        from kernova.workbench.discovery import default_project
        from kernova.workbench.growing import is_project

        if data is not None and is_project(data):
            if project is not None:
                raise InputError(
                    f"{data} is a project, and --project names another: {project}. Leave one out."
                )
            return cls(data, None)
        return cls(project or default_project("digits" if data is None else data), data)

    def files(self, add: "Sequence[Path] | None") -> list[Path]:
        """Return the files that nothing may be written to."""
        return [self.project, *([] if self.data is None else [self.data]), *(add or ())]


def check_growth(
    add: "Sequence[Path] | None",
    report: Path | None,
    same_id: str | None,
    missing_columns: str | None,
    demo: bool,
) -> None:
    """Reject options that mean nothing together."""
    from kernova.errors import InputError

    options = {"--report": report, "--same-id": same_id, "--missing-columns": missing_columns}
    given = [name for name, value in options.items() if value is not None]
    if given and not add:
        raise InputError(
            f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'} about new rows; name "
            "their file with --add, or leave it out."
        )
    if add and demo:
        raise InputError("--demo has its own table, to which nothing is added; leave out --add.")


def open_demo(project: Path, stored: Mapping[str, Any]) -> "GrowingProject":
    """Open the project of the built-in table."""
    from kernova.media.opening import demo_data
    from kernova.workbench.growing import open_opened

    return open_opened(demo_data(), project, **stored)


def open_named(
    named: Named,
    options: Mapping[str, Any],
    moved: "Sequence[Path] | None",
    stored: Mapping[str, Any],
    *,
    is_adding: bool,
) -> "GrowingProject":
    """Open the project of a table, or one that remembers its table."""
    from kernova.errors import InputError
    from kernova.files import is_there
    from kernova.workbench.growing import open_growing

    given = {name: value for name, value in options.items() if value}
    if is_adding and is_there(named.project):
        given = {}  # they are about the file that is added
    if named.data is None and not is_there(named.project) and moved is None:
        raise InputError(f"There is no project {named.project}; check its name and folder.")
    return open_growing(named.project, named.data, options=given, moved=moved or (), **stored)


def add_file(
    project: "GrowingProject", new: Path, options: Mapping[str, Any], same_id: str | None
) -> "BatchResult":
    """Add the rows of a file; options that are not given are those of the project."""
    from kernova.workbench.growing import add_to

    given = {name: value for name, value in options.items() if value}
    with progress_bars():
        return add_to(project, new, given, same_id=same_id or "error")  # type: ignore[arg-type]


def print_growth(results: "Sequence[BatchResult]", out: "EscapingConsole") -> None:
    """Print what was added, and what was found out about it."""
    for result in results:
        out.print_lines(*result.sentences)
        out.print_notes(result.notes)


def finish_growth(
    project: "GrowingProject",
    results: "Sequence[BatchResult]",
    report: Path | None,
    output: Path | None,
    *,
    raw: bool,
    as_json: bool,
) -> None:
    """Write the page and the table that were asked for, and a summary as JSON or text."""
    discovery = project.discovery

    def page() -> str:
        from kernova.workbench.growing.page import growth_page

        return growth_page(project, results)

    written = write_targets(
        {
            "output": table_target(output, discovery.rows, raw=raw),
            "report": page_target(report, page),
        }
    )
    discovery.session.close()
    if as_json:
        print_json(
            {
                "command": "discover",
                "project": str(discovery.project),
                **({} if discovery.warning is None else {"warning": discovery.warning}),
                "rows": len(discovery.table.ids),
                "batches": [result.to_json_dict() for result in results],
                "notes": discovery.notes,
                "files": written,
            }
        )
    else:
        print_growth(results, console())
        console().print_lines(*(f"{name}: {path}" for name, path in written.items()))
    if discovery.warning is not None:
        print_error(discovery.warning)
        raise typer.Exit(DISPLACED)
