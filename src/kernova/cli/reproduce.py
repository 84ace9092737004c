"""``kernova reproduce``: the figures, tables and claims of the papers.

This is the only module that imports :mod:`kernova.papers`.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, ParamSpec

import typer

from kernova.cli.console import console, print_json, progress_bars, reporting_errors, save_json
from kernova.cli.options import MAX_SEED, AsJson, examples, split_names

if TYPE_CHECKING:
    import pandas as pd

    from kernova.cli.console import Reportable
    from kernova.cli.terminal import EscapingConsole

Parameters = ParamSpec("Parameters")

Folder = Annotated[
    Path,
    typer.Option(
        "--folder",
        "-o",
        help="Folder for the report, tables and figures; created if it does not exist.",
    ),
]
Draws = Annotated[int, typer.Option(min=2, help="Number of random draws of each synthetic set.")]
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")]

# Options of `hms` for the six sets of the paper, and for the suite.
_OF_PAPER: Final = ("sets", "seeds", "starts", "quick")
_OF_SUITE: Final = ("part", "problems", "draws", "jobs", "strategies")

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Reproduce the figures and tables of a paper, and check which of its claims hold.",
    epilog=examples(
        "kernova reproduce ksd --folder reproduction/ksd",
        "kernova reproduce rkof --data data --folder reproduction/rkof",
        "kernova reproduce hms --data data --folder reproduction/hms",
        "kernova reproduce hms --data data --suite --part choosing --draws 2",
        "kernova reproduce mddkm-tables --folder reproduction/mddkm-tables",
        "kernova reproduce mddkm --data data --folder reproduction/mddkm",
    ),
)


@app.callback()
def _reproduce() -> None:
    pass


def _command(
    name: str, summary: str, example: str
) -> Callable[[Callable[Parameters, None]], Callable[Parameters, None]]:
    """Register a function as a command, with its summary and an example for the help."""

    def register(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
        declare = app.command(name, short_help=summary, epilog=examples(example))
        return declare(reporting_errors(command))

    return register


@_command(
    "ksd",
    "Kernelized spatial depth.",
    "kernova reproduce ksd --data data --folder reproduction/ksd",
)
def ksd(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the cichlid data, for Tables 2 and 3, which need it."),
    ] = None,
    folder: Folder = Path("reproduction/ksd"),
    seeds: Draws = 20,
    repetitions: Annotated[
        int, typer.Option(min=10, help="Number of repetitions of the check of Theorem 1.")
    ] = 1000,
    halvings: Annotated[
        int,
        typer.Option(
            min=1, help="Number of splits of the known fish; each takes a minute or more."
        ),
    ] = 2,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Reproduce the figures and tables of the kernelized spatial depth paper (KSD).

    Contours of a Gaussian cloud and of a ring, spatial against kernelized; the masking example,
    pooled and against each Gaussian alone; how often the bound of Theorem 1 held; and with --data
    the study of fish, on cichlids by tribe, genus and species, in comparison with four other
    scores.
    """
    from kernova.files import made_folder
    from kernova.papers.ksd import reproduce_ksd
    from kernova.papers.ksd.report import figures_of
    from kernova.report.figures import save_picture
    from kernova.tables.formats import save_table

    target = made_folder(folder)
    with progress_bars():
        study = reproduce_ksd(
            data, seeds=seeds, repetitions=repetitions, halvings=halvings, random_state=seed
        )
        tables = study.tables()
        for name, rows in tables.items():
            save_table(rows, target / f"{name}.csv")
        figures = []
        for name, figure in figures_of(study).items():
            figures.append(target / f"{name}.png")
            save_picture(figure, figures[-1])
    shown = {"Kernelized spatial depth: the paper's results and ours": study.table()}
    if "fish-levels" in tables:
        levels = tables["fish-levels"].astype(object)
        # Small groups have no e*.
        shown["Fish: means over the groups held out, pooled and in pairs"] = levels.where(
            levels.notna(), ""
        )
    _finish(study, target / "ksd.json", figures, as_json, shown)


@_command(
    "rkof",
    "Robust kernel outlier factor.",
    "kernova reproduce rkof --data data --folder reproduction/rkof",
)
def rkof(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the real data; by default downloaded from OpenML."),
    ] = None,
    datasets: Annotated[
        str, typer.Option(help="Real data sets, separated by commas, or all, or none.")
    ] = "all",
    folder: Folder = Path("reproduction/rkof"),
    seeds: Draws = 20,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Few values of k; no timing, no feature bagging, no LPF at large k."
        ),
    ] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Reproduce the experiments of the paper on the robust kernel outlier factor (RKOF).

    Both synthetic sets, over many draws; Theorem 1, as a curve and by experiment; and areas under
    the ROC curve and times of RKOF, LOF, LDF, LPF and feature bagging on kdd_u2r, kdd_u2r_idf (the
    same with another encoding of its categories), mammography, ann_thyroid and shuttle. The two
    kdd sets take half an hour or more.
    """
    from kernova.files import made_folder
    from kernova.papers.rkof import DATASETS, reproduce_rkof
    from kernova.papers.rkof.report import save_report

    names = {"all": list(DATASETS), "none": []}.get(datasets, split_names(datasets))
    target = made_folder(folder)
    with progress_bars():
        study = reproduce_rkof(data, datasets=names, seeds=seeds, quick=quick, random_state=seed)
    files = save_report(study, target)
    title = "Robust kernel outlier factor: the paper's claims and our results"
    _finish(study, target / "rkof.json", files, as_json, {title: study.table()}, study.notes)


@_command(
    "hms",
    "Hierarchical mean shift.",
    "kernova reproduce hms --data data --sets segment,yeast --seeds 2",
)
def hms(
    context: typer.Context,
    data: Annotated[
        Path,
        typer.Option(
            help="Folder of the six data sets, as Parquet files; with --suite, of all public "
            "tables, and those that are not there are skipped."
        ),
    ],
    sets: Annotated[str, typer.Option(help="Data sets, separated by commas, or all.")] = "all",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            "-o",
            help="Folder for the report, tables and figures; created if it does not exist.",
            show_default="reproduction/hms; with --suite reproduction/suite",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of random draws of each set.")] = 5,
    starts: Annotated[
        int, typer.Option(min=1, help="Number of starts of Interleave on each draw.")
    ] = 10,
    quick: Annotated[
        bool, typer.Option("--quick", help="Three starts, two growth rates, two references.")
    ] = False,
    suite: Annotated[
        bool,
        typer.Option(
            "--suite", help="Compare all question strategies on the proving ground instead."
        ),
    ] = False,
    part: Annotated[
        Literal["confirming", "choosing", "all"],
        typer.Option(
            help="Problems of the suite: those on which a strategy may be chosen, or those that "
            "only confirm the choice."
        ),
    ] = "confirming",
    problems: Annotated[
        str | None,
        typer.Option(help="Some problems of this part, separated by commas.", show_default="all"),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1, help="Largest number of draws of a problem of the suite.", show_default="5"
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes of the suite.")] = 2,
    strategies: Annotated[
        str | None,
        typer.Option(
            help="Strategies and baselines of the suite, separated by commas; the first is "
            "compared with the others.",
            show_default="all",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce the experiments of the paper on hierarchical mean shift (HMS).

    Number of questions that each strategy needs to find every class of abalone, shuttle,
    optdigits, letter, segment and yeast, and the area under its curve; effect of the growth of the
    bandwidth and of the reference; and which of the paper's claims hold. Takes about ten minutes.

    With --suite, all strategies and the baselines of the literature are compared on many draws of
    62 problems. Takes about an hour for each part; an interrupted suite continues where it stopped.
    """
    from kernova.errors import InputError

    given = [name for name in (*_OF_PAPER, *_OF_SUITE) if _is_given(context, name)]
    wrong = [f"--{name}" for name in given if name in (_OF_PAPER if suite else _OF_SUITE)]
    if wrong and suite:
        raise InputError(f"--suite has its own problems; leave out {' and '.join(wrong)}.")
    if wrong:
        raise InputError(
            f"{' and '.join(wrong)} {'sets' if len(wrong) == 1 else 'set'} what the suite runs: "
            "pass --suite with it, or leave it out."
        )
    if suite:
        settings: dict[str, Any] = {} if draws is None else {"draws": draws}
        lists = {"strategies": strategies, "problems": problems}
        settings |= {name: split_names(text) for name, text in lists.items() if text is not None}
        _suite(data, folder or Path("reproduction/suite"), part, settings, jobs, as_json)
    else:
        names = None if sets == "all" else split_names(sets)
        _six_sets(data, folder or Path("reproduction/hms"), names, seeds, starts, quick, as_json)


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _six_sets(
    data: Path,
    folder: Path,
    sets: Sequence[str] | None,
    seeds: int,
    starts: int,
    quick: bool,
    as_json: bool,
) -> None:
    """Repeat the experiments of the HMS paper."""
    from kernova.files import made_folder
    from kernova.papers.hms import reproduce_hms
    from kernova.papers.hms.experiments import SET_NAMES
    from kernova.papers.hms.report import save_report

    target = made_folder(folder)
    with progress_bars():
        study = reproduce_hms(
            data, sets=SET_NAMES if sets is None else sets, seeds=seeds, starts=starts, quick=quick
        )
    files = save_report(study, target)
    shown = {
        "Hierarchical mean shift: the paper's claims and our results": study.table(),
        "Questions until every class was found": study.questions(),
    }
    _finish(study, target / "hms.json", files, as_json, shown, study.notes)


def _suite(
    data: Path,
    folder: Path,
    part: Literal["confirming", "choosing", "all"],
    settings: dict[str, Any],
    jobs: int,
    as_json: bool,
) -> None:
    """Compare question strategies on the proving ground."""
    from kernova.files import made_folder
    from kernova.proving.report import SuiteReport, save_report
    from kernova.proving.suite import run_suite, suite_plan

    plan = suite_plan(part, **settings)
    target = made_folder(folder)
    with progress_bars():
        report = SuiteReport(run_suite(plan, data, target, jobs))
    files = save_report(report, target)
    _finish(report, target / "suite.json", files, as_json, report.shown(), report.notes())


@_command(
    "mddkm-tables",
    "Multiclass data description, on tables.",
    "kernova reproduce mddkm-tables --sets iris,wine --seeds 3",
)
def mddkm_tables(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of optdigits, letter, segment and yeast, as Parquet files."),
    ] = None,
    sets: Annotated[
        str, typer.Option(help="Data sets, separated by commas, or all available ones.")
    ] = "all",
    folder: Folder = Path("reproduction/mddkm-tables"),
    seeds: Annotated[int, typer.Option(min=1, help="Number of random splits of each set.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Compare multiclass data description (MDD-KM) with five other methods, on labelled tables.

    Some classes of iris, wine and digits, and with --data of optdigits, letter, segment and yeast,
    are held out. The methods are compared in detecting their rows as unknown and in recognising
    the known classes. The effect of length-scale and ridge is shown, too. Takes about a minute.
    """
    from kernova.files import made_folder
    from kernova.papers.mddkm import reproduce_mddkm
    from kernova.papers.mddkm.report import save_report

    target = made_folder(folder)
    with progress_bars():
        study = reproduce_mddkm(
            data, sets=None if sets == "all" else split_names(sets), seeds=seeds
        )
    files = save_report(study, target)
    shown = {
        "Multiclass data description: claims and our results": study.table(),
        "Area under the ROC curve / accuracy": study.comparison(),
    }
    _finish(study, target / "mddkm-tables.json", files, as_json, shown, study.notes)


@_command(
    "mddkm",
    "Multiclass data description, on bird notes.",
    "kernova reproduce mddkm --data data --folder reproduction/mddkm",
)
def mddkm(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of notes (index.csv), or of such folders; by default only synthetic notes."
        ),
    ] = None,
    folder: Folder = Path("reproduction/mddkm"),
    seeds: Annotated[
        int,
        typer.Option(min=1, help="Number of random draws of classes and notes; 50 in the paper."),
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Find known notes among others, as in the paper on multiclass data description (MDD-KM).

    Two notes of each of three classes are learnt, and the others are found in sequences of notes
    without gaps: by MDD-KM and PKNN, with the paper's settings and the default ones, on every set
    of notes in --data and on synthetic ones. Then whole songs, false alarms, and the F1 score
    against the threshold. Takes about five minutes.
    """
    from kernova.files import made_folder
    from kernova.papers.mddkm_notes import reproduce_mddkm_notes
    from kernova.papers.mddkm_notes.report import save_report

    target = made_folder(folder)
    with progress_bars():
        study = reproduce_mddkm_notes(data, seeds=seeds)
    files = save_report(study, target)
    shown = {
        "Known notes among others: the paper's claims and our results": study.table(),
        "Notes back to back: F by window / by note": study.comparison(),
    }
    if len(study.song_comparison()):
        shown["Whole songs: F by note"] = study.song_comparison()
    _finish(study, target / "mddkm.json", files, as_json, shown, study.notes)


def _finish(
    study: "Reportable",
    numbers: Path,
    files: Sequence[Path],
    as_json: bool,
    tables: "dict[str, pd.DataFrame]",
    notes: Iterable[str] = (),
) -> None:
    """Write the JSON file, and print the results or their JSON."""
    answer = study.to_json_dict()
    save_json(answer, numbers)
    if as_json:
        print_json({**answer, "files": [str(path) for path in files]})
        return
    out = console()
    for title, rows in tables.items():
        out.print_table(rows, title)
    out.print_notes(notes)
    _print_files(out, numbers, files)


def _print_files(out: "EscapingConsole", numbers: Path, files: Sequence[Path]) -> None:
    out.print_lines(
        *(f"Report: {path}" for path in files if path.suffix == ".html"),
        f"Numbers: {numbers}, and CSV tables in the same folder",
    )
    figures = [str(path) for path in files if path.suffix == ".png"]
    if figures:
        out.print_lines(f"Figures: {', '.join(figures)}")
