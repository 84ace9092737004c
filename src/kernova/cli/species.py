"""``kernova species``: whether a group of specimens, or a single one, is new."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from kernova.cli.console import (
    Target,
    page_target,
    print_result,
    printing_warnings,
    progress_bars,
    reporting_errors,
    table_target,
    write_targets,
)
from kernova.cli.options import (
    MAX_SEED,
    AsJson,
    Dimensions,
    MemoryMb,
    Raw,
    Report,
    check_targets,
    examples,
    number_or_name,
)
from kernova.species import (
    BANDWIDTH,
    COMPONENTS,
    CONFIDENCE,
    FALSE_DISCOVERY_RATE,
    HALVINGS,
    LARGEST_ERROR,
    SCORES,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from kernova.cli.terminal import EscapingConsole
    from kernova.shapes import Landmarks
    from kernova.shapes.features import ShapeFeatures
    from kernova.shapes.preparation import CurvesAs
    from kernova.species.covariates import Covariates
    from kernova.species.inputs import PreparedSpecimens
    from kernova.species.results import SpeciesAnswer
    from kernova.species.space import SpeciesSettings

EXAMPLE = examples(
    "kernova species fish.tps --groups groups.csv --group-column species "
    "--unknown 'Notropis petersoni' --report report.html",
    "kernova species fish.tps --groups groups.csv --group-column species --each -o verdicts.csv",
    "kernova species fish.csv --group-column species --unknown polli --covariate sex "
    "--covariate population",
    "kernova species fish.tps --id-pattern '_([a-z]+)_' --test unnamed.tps -o verdicts.csv",
)


@reporting_errors
def species(
    specimens: Annotated[
        Path,
        typer.Argument(
            metavar="SPECIMENS",
            help="Landmarks: a TPS, NTS or Morphologika file, or a table with the columns x1, y1, "
            "x2, y2 and so on.",
        ),
    ],
    groups: Annotated[
        Path | None,
        typer.Option(
            help="Table with the group of each specimen, if not in the table of landmarks itself."
        ),
    ] = None,
    group_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column, or variable of a TPS file, of groups, such as species."
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of specimen ids; by default id, or the first."),
    ] = None,
    id_pattern: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="Take the group from the ids: the part in parentheses."),
    ] = None,
    ids_from: Annotated[
        Literal["auto", "id", "image", "number"],
        typer.Option(help="Field of a TPS file that identifies the specimens."),
    ] = "auto",
    negative: Annotated[
        Literal["values", "missing"],
        typer.Option(help="Negative coordinates: ordinary values, or missing landmarks."),
    ] = "values",
    dimensions: Dimensions = None,
    unknown: Annotated[
        str | None, typer.Option(metavar="NAME", help="Test whether this group is new.")
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Test every group, each held out in turn.")
    ] = False,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Test each specimen of this file on its own."),
    ] = None,
    covariate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Adjust for this column of the table, such as sex, or for size; may be repeated. "
            "Populations, each of one group, are exchanged and left out whole.",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Formulas of shape features to measure instead of principal components; cichlids "
            "is a built-in set.",
        ),
    ] = None,
    components: Annotated[
        int, typer.Option(min=1, help="Number of principal components, without --features.")
    ] = COMPONENTS,
    size: Annotated[
        bool, typer.Option("--size", help="Add centroid size to the shape variables.")
    ] = False,
    curves: Annotated[
        Literal["bending", "procrustes", "ignore"],
        typer.Option(help="Slide points of curves to least bending energy or distance, or not."),
    ] = "bending",
    sliders: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Semilandmarks among the landmarks: columns before, slide, after."
        ),
    ] = None,
    symmetric: Annotated[
        bool, typer.Option("--symmetric", help="Compare symmetric components of paired landmarks.")
    ] = False,
    reflection: Annotated[
        bool, typer.Option("--reflection", help="Allow mirror images in the alignment.")
    ] = False,
    score: Annotated[
        str,
        typer.Option(
            help=f"Novelty score of single specimens: {', '.join(SCORES[:-1])} or {SCORES[-1]}."
        ),
    ] = SCORES[0],
    bandwidth: Annotated[
        str,
        typer.Option(
            help="Kernel width of --score depth: half-nearest, nearest, reach, median, or a number."
        ),
    ] = BANDWIDTH,
    confidence: Annotated[
        float, typer.Option(help="Confidence of the bound and of the verdict, between 0 and 1.")
    ] = CONFIDENCE,
    largest_error: Annotated[
        float,
        typer.Option(
            help="Groups count as distinguished if the error of a discriminant, and its interval, "
            "are at most this."
        ),
    ] = LARGEST_ERROR,
    false_discovery_rate: Annotated[
        float,
        typer.Option(
            help="With --test: largest fraction of ordinary specimens among those called new."
        ),
    ] = FALSE_DISCOVERY_RATE,
    halvings: Annotated[
        int, typer.Option(min=1, help="Number of random splits of the known specimens in half.")
    ] = HALVINGS,
    least_specimens: Annotated[
        int, typer.Option(min=1, help="With --each: size of the smallest group to hold out.")
    ] = 4,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed of the splits.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write a table here: of specimens, or with --each of groups."
        ),
    ] = None,
    raw: Raw = False,
    aligned: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write aligned specimens here: .csv, .tsv, .tps, .nts or .nex."
        ),
    ] = None,
    report: Report = None,
    top: Annotated[int, typer.Option(min=0, help="Number of table rows to print.")] = 10,
    memory_mb: MemoryMb = None,
    as_json: AsJson = False,
) -> None:
    """Test from landmarks whether a group of specimens is new, with error rates.

    Two questions are answered. Is the sample a random sample of a known group? A permutation test
    of mean shape against each of them. Can single specimens be distinguished? The cross-validated
    error of a discriminant, and that of a novelty score that knows the known groups alone. Size
    and other covariates are adjusted for, and the digitising of all specimens is checked.
    """
    from kernova.shapes import read_landmarks
    from kernova.species.covariates import covariates_from
    from kernova.species.inputs import (
        check_one_question,
        columns_of,
        groups_of,
    )
    from kernova.species.space import SpeciesSettings

    check_one_question(unknown, each, test, covariate or [])
    sources = [path for path in (specimens, groups, test, sliders) if path is not None]
    check_targets(output, report, aligned, kept=[*sources, *([Path(features)] if features else [])])
    settings = SpeciesSettings(
        components=components, features=_features(features), size=size, reflection=reflection,
        score=score, bandwidth=number_or_name(bandwidth), confidence=confidence,
        halvings=halvings, largest_error=largest_error,
        false_discovery_rate=false_discovery_rate, seed=seed,
    )  # fmt: skip
    # Beside a table of groups, the column of ids is that table's.
    own_id = id_column if groups is None else None
    read = partial(
        read_landmarks, negative=negative, ids_from=ids_from, id_column=own_id,
        dimensions=dimensions,
    )  # fmt: skip
    known = read(specimens)
    names = groups_of(
        known, groups=groups, group_column=group_column, id_pattern=id_pattern, id_column=id_column
    )
    columns = columns_of(known, groups=groups, group_column=group_column, id_column=id_column)
    source = os.fspath(groups or specimens)
    covariates = covariates_from(columns, covariate or [], source)
    new = None if test is None else read(test).landmarks
    sets = [known.landmarks, *([] if new is None else [new])]
    with printing_warnings():
        with progress_bars():
            prepared = _prepared(sets, curves, sliders, symmetric)
            study = _Study(prepared, names, settings, covariates, columns)
            answer = _answer(study, unknown, least_specimens)
        written = write_targets(
            {
                "output": table_target(output, answer.rows, raw=raw),
                "aligned": Target(aligned, lambda path: _write_aligned(path, answer)),
                "report": page_target(report, lambda: _page(answer)),
            }
        )
    hint = "Write a table with -o table.csv; see pictures with --report report.html."
    print_result(
        answer, written, as_json=as_json, show=lambda out: _show(out, answer, top), hint=hint
    )


def _features(source: str | None) -> "ShapeFeatures | None":
    if source is None:
        return None
    from kernova.shapes.features import read_shape_features

    return read_shape_features(source)


class _Study(NamedTuple):
    """What every question is asked of."""

    specimens: "PreparedSpecimens"  # the known ones, and the new ones if they are tested
    groups: "Sequence[str]"
    settings: "SpeciesSettings"
    covariates: "Covariates"
    columns: "pd.DataFrame | None"


def _prepared(
    sets: "list[Landmarks]", curves: "CurvesAs", sliders: Path | None, symmetric: bool
) -> "PreparedSpecimens":
    from kernova.shapes import read_sliders
    from kernova.species.inputs import prepared_specimens

    rows = None if sliders is None else read_sliders(sliders)
    return prepared_specimens(sets, curves=curves, sliders=rows, symmetric=symmetric)


def _write_aligned(path: Path, answer: "SpeciesAnswer") -> None:
    from kernova.shapes import write_landmarks

    landmarks, groups = answer.aligned
    write_landmarks(path, landmarks, groups)


def _answer(study: _Study, unknown: str | None, least_specimens: int) -> "SpeciesAnswer":
    from kernova.species.results import answer_each, answer_specimens, answer_unknown

    (landmarks, digitised), groups, settings, covariates, columns = study
    known = landmarks[0]
    if unknown is not None:
        return answer_unknown(known, groups, unknown, settings, covariates, columns, digitised[0])
    if len(landmarks) > 1:
        return answer_specimens(known, groups, landmarks[1], settings, digitised)
    return answer_each(
        known, groups, settings, covariates, digitised[0],
        least_specimens=least_specimens, columns=columns,
    )  # fmt: skip


def _page(answer: "SpeciesAnswer") -> str:
    from kernova.species.page import species_page

    return species_page(answer)


def _show(out: "EscapingConsole", answer: "SpeciesAnswer", top: int) -> None:
    out.print_notes(answer.sentences)
    if top and len(answer.shown):
        out.print()
        out.print_table(answer.shown.head(top), answer.title)
        if len(answer.shown) > top:
            out.print(f"... and {len(answer.shown) - top} more.")
