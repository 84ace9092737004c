"""``kernova reproduce``: the papers' figures, made again."""

from pathlib import Path
from typing import Annotated

import typer

from kernova.cli.console import (
    MAX_SEED,
    answering,
    console,
    print_json,
    print_table,
    progress_bars,
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a paper's pictures and figures again, and say which of its claims hold.",
    epilog="\b\nExample:\n  kernova reproduce ksd --folder reproduction/ksd",
)


@app.callback()
def _reproduce() -> None:
    pass


@app.command(
    "ksd",
    short_help="Kernelized spatial depth.",
    epilog="\b\nExample:\n  kernova reproduce ksd --folder reproduction/ksd --repetitions 1000",
)
@answering
def ksd(
    folder: Annotated[
        Path, typer.Option(help="Where pictures and the JSON file go; made if it is not there.")
    ] = Path("reproduction/ksd"),
    seeds: Annotated[int, typer.Option(min=2, help="Random draws of each synthetic set.")] = 20,
    repetitions: Annotated[
        int, typer.Option(min=10, help="Repetitions of the check of Theorem 1.")
    ] = 1000,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Where the random numbers start.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Remake the synthetic figures of the kernelized spatial depth paper (KSD).

    Contours of a Gaussian cloud and of a ring, spatial against kernelized; the masking example,
    pooled and against each Gaussian alone; and how often the bound of Theorem 1 held.
    """
    from kernova.cli.folders import made_folder, save_json
    from kernova.report.figures import save_picture
    from kernova.studies.reproduce_ksd import reproduce_ksd

    target = made_folder(folder)
    with progress_bars():
        study = reproduce_ksd(seeds=seeds, repetitions=repetitions, random_state=seed)
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
    console().print(f"Numbers: {target / 'ksd.json'}", markup=False)
    console().print(f"Pictures: {', '.join(map(str, pictures))}", markup=False)
