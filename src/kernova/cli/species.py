"""``kernova species``: whether a group of specimens, or a single one, is new."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kernova.cli.console import (
    MAX_SEED,
    answering,
    console,
    print_json,
    print_table,
    progress_bars,
    warnings_in_words,
)
from kernova.cli.options import AsJson, Report, check_targets, number_or_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernova.shapes import Landmarks
    from kernova.shapes.features import ShapeFeatures
    from kernova.species.results import SpeciesAnswer
    from kernova.species.space import SpeciesSettings

EXAMPLE = (
    "\b\nExamples:\n"
    "  kernova species fish.tps --groups groups.csv --group-column species "
    "--unknown 'Notropis petersoni' --report report.html\n"
    "  kernova species fish.tps --groups groups.csv --group-column species --each -o verdicts.csv\n"
    "  kernova species fish.tps --id-pattern '_([a-z]+)_' --test unnamed.tps -o verdicts.csv"
)


@answering
def species(
    specimens: Annotated[
        Path,
        typer.Argument(
            metavar="SPECIMENS",
            help="Landmarks: a TPS file, or a wide table with columns x1, y1, x2, y2 and so on.",
        ),
    ],
    groups: Annotated[
        Path | None,
        typer.Option(help="Table with the group of each specimen; a wide table may have it too."),
    ] = None,
    group_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of groups, such as species.")
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of specimen ids; else id, or the first."),
    ] = None,
    id_pattern: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="Take the group from the ids: what is in ( )."),
    ] = None,
    ids_from: Annotated[
        Literal["auto", "id", "image", "number"],
        typer.Option(help="What names the specimens of a TPS file."),
    ] = "auto",
    negative: Annotated[
        Literal["values", "missing"],
        typer.Option(help="Negative coordinates: as they are, or missing landmarks."),
    ] = "values",
    unknown: Annotated[
        str | None, typer.Option(metavar="NAME", help="Ask whether this group is new.")
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Ask it of every group, each held out in turn.")
    ] = False,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ask it of each specimen of this file by itself."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Measure these shape features; cichlids names a set that ships."
        ),
    ] = None,
    components: Annotated[
        int, typer.Option(min=1, help="Principal components, where no features are given.")
    ] = 12,
    size: Annotated[
        bool, typer.Option("--size", help="Let centroid size count too, not only shape.")
    ] = False,
    reflection: Annotated[
        bool, typer.Option("--reflection", help="Allow specimens to be mirror images.")
    ] = False,
    bandwidth: Annotated[
        str, typer.Option(help="Kernel width: nearest, reach, median, or a number.")
    ] = "nearest",
    confidence: Annotated[
        float, typer.Option(help="Of the bound on false alarms and of the verdict, below 1.")
    ] = 0.95,
    largest_error: Annotated[
        float, typer.Option(help="Groups with a larger equal error rate are not separable.")
    ] = 0.25,
    false_discovery_rate: Annotated[
        float, typer.Option(help="With --test: share of ordinary ones among those called new.")
    ] = 0.05,
    halvings: Annotated[
        int, typer.Option(min=1, help="How often the known specimens are halved.")
    ] = 20,
    least_specimens: Annotated[
        int, typer.Option(min=1, help="With --each: hold out only groups of at least so many.")
    ] = 4,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Decides which specimens are held out.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write a table here: specimens, or groups (--each)."),
    ] = None,
    report: Report = None,
    top: Annotated[int, typer.Option(min=0, help="How many lines of a table to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Say whether a group of specimens is new, from landmarks and with error rates.

    The other groups are halved: one half teaches alignment, components and depths, the other is
    held out to count false alarms. The unknown is held against all known groups together and
    against each one alone, over many halvings, and the verdict comes in words, with its reasons.
    """
    from kernova.species.inputs import Reading, check_question, groups_of, read_specimens
    from kernova.species.space import SpeciesSettings

    check_question(unknown, each, test)
    read = [path for path in (specimens, groups, test) if path is not None]
    check_targets(output, report, kept=[*read, *([Path(features)] if features else [])])
    settings = SpeciesSettings(
        components=components,
        features=_features(features),
        size=size,
        reflection=reflection,
        bandwidth=number_or_name(bandwidth),
        confidence=confidence,
        halvings=halvings,
        largest_error=largest_error,
        false_discovery_rate=false_discovery_rate,
        seed=seed,
    )
    # Beside a table of groups, the column of ids is that table's.
    reading = Reading(negative, ids_from, id_column if groups is None else None)
    known = read_specimens(specimens, reading)
    names = groups_of(
        known, groups=groups, group_column=group_column, id_pattern=id_pattern, id_column=id_column
    )
    new = None if test is None else read_specimens(test, reading).landmarks
    with warnings_in_words(), progress_bars():
        answer = _answer(known.landmarks, names, unknown, new, settings, least_specimens)
        _write(answer, output, report)
    files = {"output": output, "report": report}
    written = {name: str(path) for name, path in files.items() if path is not None}
    if as_json:
        print_json({**answer.to_json_dict(), "files": written})
    else:
        _print(answer, top, written)


def _features(source: str | None) -> "ShapeFeatures | None":
    if source is None:
        return None
    from kernova.shapes.features import read_shape_features

    return read_shape_features(source)


def _answer(
    known: "Landmarks",
    groups: "Sequence[str]",
    unknown: str | None,
    new: "Landmarks | None",
    settings: "SpeciesSettings",
    least_specimens: int,
) -> "SpeciesAnswer":
    from kernova.species.results import answer_each, answer_specimens, answer_unknown

    if unknown is not None:
        return answer_unknown(known, groups, unknown, settings)
    if new is not None:
        return answer_specimens(known, groups, new, settings)
    return answer_each(known, groups, settings, least_specimens=least_specimens)


def _write(answer: "SpeciesAnswer", output: Path | None, report: Path | None) -> None:
    if output is not None:
        from kernova.tables.formats import save_table

        save_table(answer.rows, output)
    if report is not None:
        from kernova.report.page import save_page
        from kernova.species.page import species_page

        save_page(species_page(answer), report)


def _print(answer: "SpeciesAnswer", top: int, written: dict[str, str]) -> None:
    out = console()
    for sentence in answer.sentences:
        out.print(sentence, markup=False)
    if top and len(answer.shown):
        out.print()
        print_table(answer.shown.head(top), answer.title)
        if len(answer.shown) > top:
            out.print(f"... and {len(answer.shown) - top} more.")
    out.print()
    for name, path in written.items():
        out.print(f"{name}: {path}", markup=False)
    if not written:
        out.print("Write a table with -o table.csv; see pictures with --report report.html.")
