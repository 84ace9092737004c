"""``kernova reproduce``: the papers' figures, made again."""

from pathlib import Path
from typing import Annotated

import typer

from kernova.cli.console import MAX_SEED, answering, console, print_json, print_table, progress_bars

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a paper's pictures and figures again, and say which of its claims hold.",
    epilog="\b\nExamples:\n  kernova reproduce ksd --folder reproduction/ksd\n"
    "  kernova reproduce rkof --data data --folder reproduction/rkof\n"
    "  kernova reproduce hms --data data --folder reproduction/hms\n"
    "  kernova reproduce mddkm-tables --folder reproduction/mddkm-tables\n"
    "  kernova reproduce mddkm --data data --folder reproduction/mddkm",
)


@app.callback()
def _reproduce() -> None:
    pass


@app.command(
    "ksd",
    short_help="Kernelized spatial depth.",
    epilog="\b\nExample:\n  kernova reproduce ksd --data data --folder reproduction/ksd",
)
@answering
def ksd(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the cichlids, for Tables 2 and 3; without it, none."),
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="Where pictures and the JSON file go; made if it is not there.")
    ] = Path("reproduction/ksd"),
    seeds: Annotated[int, typer.Option(min=2, help="Random draws of each synthetic set.")] = 20,
    repetitions: Annotated[
        int, typer.Option(min=10, help="Repetitions of the check of Theorem 1.")
    ] = 1000,
    halvings: Annotated[
        int, typer.Option(min=1, help="Halvings of the known fishes; each takes a minute or more.")
    ] = 2,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Where the random numbers start.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Remake the figures and tables of the kernelized spatial depth paper (KSD).

    Contours of a Gaussian cloud and of a ring, spatial against kernelized; the masking example,
    pooled and against each Gaussian alone; how often the bound of Theorem 1 held; and with --data
    the study of fishes, on cichlids by tribe, genus and species, with four other scores beside it.
    """
    from kernova.cli.console import made_folder, save_json
    from kernova.papers.ksd import reproduce_ksd
    from kernova.report.figures import save_picture
    from kernova.tables.formats import save_table

    target = made_folder(folder)
    with progress_bars():
        study = reproduce_ksd(
            data, seeds=seeds, repetitions=repetitions, halvings=halvings, random_state=seed
        )
        for name, rows in study.tables().items():
            save_table(rows, target / f"{name}.csv")
        pictures = []
        for name, figure in study.figures().items():
            pictures.append(target / f"{name}.png")
            save_picture(figure, pictures[-1])
    answer = study.to_json_dict()
    save_json(answer, target / "ksd.json")
    if as_json:
        print_json({**answer, "files": [str(path) for path in pictures]})
        return
    print_table(study.table(), "Kernelized spatial depth: the paper's figures and ours")
    for name, rows in study.tables().items():
        if name == "fish-levels":
            shown = rows.astype(object).where(rows.notna(), "")  # small groups have no e*
            print_table(shown, "Fishes: means over the groups held out, pooled and in pairs")
    console().print(f"Numbers: {target / 'ksd.json'}", markup=False)
    console().print(f"Pictures: {', '.join(map(str, pictures))}", markup=False)


@app.command(
    "rkof",
    short_help="Robust kernel outlier factor.",
    epilog="\b\nExample:\n  kernova reproduce rkof --data data --folder reproduction/rkof",
)
@answering
def rkof(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the real data; without it, OpenML is asked for what it has."),
    ] = None,
    datasets: Annotated[
        str, typer.Option(help="Which real data to take, by commas, or all, or none.")
    ] = "all",
    folder: Annotated[
        Path,
        typer.Option(
            "--folder", "-o", help="Where tables, pictures and the page go; made if not there."
        ),
    ] = Path("reproduction/rkof"),
    seeds: Annotated[int, typer.Option(min=2, help="Random draws of each synthetic set.")] = 20,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A few k; no times, no feature bagging, no LPF at huge k."),
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Where the random numbers start.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Remake the experiments of the paper on the robust kernel outlier factor (RKOF).

    Both synthetic sets, over many draws; Theorem 1, as a curve and by experiment; and areas under
    the ROC curve and times of RKOF, LOF, LDF, LPF and feature bagging on kdd_u2r,
    kdd_u2r_idf (its categories encoded otherwise), mammography, ann_thyroid and shuttle. The two
    of kdd take half an hour or more.
    """
    from kernova.cli.console import made_folder, save_json
    from kernova.papers.rkof import DATASETS, reproduce_rkof
    from kernova.papers.rkof.report import save_everything

    listed = [name.strip() for name in datasets.split(",")]
    names = {"all": list(DATASETS), "none": []}.get(datasets, listed)
    target = made_folder(folder)
    with progress_bars():
        study = reproduce_rkof(data, datasets=names, seeds=seeds, quick=quick, random_state=seed)
    files = save_everything(study, target)
    answer = study.to_json_dict()
    save_json(answer, target / "rkof.json")
    if as_json:
        print_json({**answer, "files": [str(path) for path in files]})
        return
    print_table(study.table(), "Robust kernel outlier factor: the paper's claims and what came out")
    for note in study.notes:
        console().print(note, markup=False)
    console().print(f"Page: {files[0]}", markup=False)
    console().print(f"Numbers: {target / 'rkof.json'}, and CSV tables beside it", markup=False)
    pictures = [str(path) for path in files if path.suffix == ".png"]
    console().print(f"Pictures: {', '.join(pictures)}", markup=False)


@app.command(
    "hms",
    short_help="Hierarchical mean shift.",
    epilog="\b\nExample:\n  kernova reproduce hms --data data --sets segment,yeast --seeds 2",
)
@answering
def hms(
    data: Annotated[Path, typer.Option(help="Folder of the six sets, as Parquet files.")],
    sets: Annotated[str, typer.Option(help="Which sets to take, by commas, or all.")] = "all",
    folder: Annotated[
        Path,
        typer.Option(
            "--folder", "-o", help="Where tables, pictures and the page go; made if not there."
        ),
    ] = Path("reproduction/hms"),
    seeds: Annotated[int, typer.Option(min=1, help="Draws of each set.")] = 5,
    starts: Annotated[int, typer.Option(min=1, help="Starts of Interleave on each draw.")] = 10,
    quick: Annotated[
        bool, typer.Option("--quick", help="Three starts, two growths, two references.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Remake the experiments of the paper on hierarchical mean shift (HMS).

    How many questions each strategy needs until every class of abalone, shuttle, optdigits,
    letter, segment and yeast has been met, and the area under its curve; what the growth of the
    bandwidth and the reference change; and which of the paper's statements hold. All of it takes
    about ten minutes.
    """
    from kernova.cli.console import made_folder, save_json
    from kernova.papers.hms import reproduce_hms
    from kernova.papers.hms.data import SET_NAMES
    from kernova.papers.hms.report import save_everything

    names = SET_NAMES if sets == "all" else [name.strip() for name in sets.split(",")]
    target = made_folder(folder)
    with progress_bars():
        study = reproduce_hms(data, sets=names, seeds=seeds, starts=starts, quick=quick)
    files = save_everything(study, target)
    answer = study.to_json_dict()
    save_json(answer, target / "hms.json")
    if as_json:
        print_json({**answer, "files": [str(path) for path in files]})
        return
    print_table(study.table(), "Hierarchical mean shift: the paper's claims and what came out")
    print_table(study.questions(), "Questions until every class was met")
    for note in study.notes:
        console().print(note, markup=False)
    console().print(f"Page: {files[0]}", markup=False)
    console().print(f"Numbers: {target / 'hms.json'}, and CSV tables beside it", markup=False)


@app.command(
    "mddkm-tables",
    short_help="Multiclass data description, on tables.",
    epilog="\b\nExample:\n  kernova reproduce mddkm-tables --sets iris,wine --seeds 3",
)
@answering
def mddkm_tables(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of optdigits, letter, segment and yeast, as Parquet files."),
    ] = None,
    sets: Annotated[
        str, typer.Option(help="Which sets to take, by commas, or all that can be had.")
    ] = "all",
    folder: Annotated[
        Path,
        typer.Option(
            "--folder", "-o", help="Where tables, pictures and the page go; made if not there."
        ),
    ] = Path("reproduction/mddkm-tables"),
    seeds: Annotated[int, typer.Option(min=1, help="How often each set is split.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Hold the description of known classes (MDD-KM) against five others, on labelled tables.

    Some classes of iris, wine and digits, and with --data of optdigits, letter, segment and yeast,
    are held out: who tells their rows from the known ones, and who knows the known ones best? Also
    what length-scale and ridge do. All of it takes about a minute.
    """
    from kernova.cli.console import made_folder, save_json
    from kernova.papers.mddkm import reproduce_mddkm
    from kernova.papers.mddkm.report import save_everything

    names = None if sets == "all" else [name.strip() for name in sets.split(",")]
    target = made_folder(folder)
    with progress_bars():
        study = reproduce_mddkm(data, sets=names, seeds=seeds)
    files = save_everything(study, target)
    answer = study.to_json_dict()
    save_json(answer, target / "mddkm-tables.json")
    if as_json:
        print_json({**answer, "files": [str(path) for path in files]})
        return
    print_table(study.table(), "Multiclass data description: what is said and what came out")
    print_table(study.comparison(), "Area under the ROC curve / accuracy")
    for note in study.notes:
        console().print(note, markup=False)
    console().print(f"Page: {files[0]}", markup=False)
    console().print(
        f"Numbers: {target / 'mddkm-tables.json'}, and CSV tables beside it", markup=False
    )


@app.command(
    "mddkm",
    short_help="Multiclass data description, on notes of birds.",
    epilog="\b\nExample:\n  kernova reproduce mddkm --data data --folder reproduction/mddkm",
)
@answering
def mddkm(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of notes (index.csv), or one that holds such folders; without it, "
            "synthetic notes alone."
        ),
    ] = None,
    folder: Annotated[
        Path,
        typer.Option(
            "--folder", "-o", help="Where tables, pictures and the page go; made if not there."
        ),
    ] = Path("reproduction/mddkm"),
    seeds: Annotated[
        int, typer.Option(min=1, help="How often classes and notes are drawn; the paper: 50.")
    ] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Find a few known notes among others, as the paper on data description (MDD-KM) did.

    Two notes of each of three classes are learnt, and the others are found among notes back to
    back: by MDD-KM and PKNN, in the paper's way and in the default one, on every set of notes in
    --data and on synthetic ones. Then whole songs, false alarms, and F against the threshold.
    All of it takes about five minutes.
    """
    from kernova.cli.console import made_folder, save_json
    from kernova.papers.mddkm_notes import reproduce_mddkm_notes
    from kernova.papers.mddkm_notes.report import save_everything

    target = made_folder(folder)
    with progress_bars():
        study = reproduce_mddkm_notes(data, seeds=seeds)
    files = save_everything(study, target)
    answer = study.to_json_dict()
    save_json(answer, target / "mddkm.json")
    if as_json:
        print_json({**answer, "files": [str(path) for path in files]})
        return
    print_table(study.table(), "Known notes among others: the paper's claims and what came out")
    print_table(study.comparison(), "Notes back to back: F by window / by note")
    if len(study.song_comparison()):
        print_table(study.song_comparison(), "Whole songs: F by note")
    for note in study.notes:
        console().print(note, markup=False)
    console().print(f"Page: {files[0]}", markup=False)
    console().print(f"Numbers: {target / 'mddkm.json'}, and CSV tables beside it", markup=False)
