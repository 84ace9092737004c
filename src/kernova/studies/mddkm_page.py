"""The comparison of descriptions as one page for people."""

from collections.abc import Mapping
from pathlib import Path

from kernova.report.page import Section, facts, page, paragraph, picture, table
from kernova.studies.mddkm_claims import NOT_REPRODUCED
from kernova.studies.reproduce_mddkm import MddkmReproduction
from kernova.studies.reproduction_files import write_reproduction


def mddkm_page(result: MddkmReproduction, pictures: Mapping[str, bytes]) -> str:
    """Give the page: claims first, then what stands behind them."""
    return page(
        "Known classes and none of these: what is said, and what comes out",
        [_claims(result), _comparison(result, pictures["areas"]), _heat(result, pictures)],
        lead="Kalantari, Principe and Sieving, Uncertainty quantification for multiclass data "
        "description.",
        footer=f"Made by kernova reproduce mddkm-tables, with {result.seeds} "
        f"{'seed' if result.seeds == 1 else 'seeds'}.",
    )


def save_everything(result: MddkmReproduction, folder: Path) -> list[Path]:
    """Write the page, a table (CSV) and a picture (PNG) of everything; give the paths."""
    return write_reproduction(result, mddkm_page, folder)


def _claims(result: MddkmReproduction) -> Section:
    claims = result.table()
    verdicts = claims["verdict"].str.split(":").str[0].value_counts()
    is_off = claims["verdict"] == NOT_REPRODUCED
    return Section(
        "What holds",
        [
            facts({"claims": len(claims), **{str(name): n for name, n in verdicts.items()}}),
            "The paper's recordings are not public. Judged are its point, that classes must share "
            "their hyperparameters, and what a literal implementation of its formulas measured.",
            table(
                claims.rename(columns={"literal": "literal implementation"}),
                "What is said, and what came out here",
                marked=is_off,
            ),
            *(paragraph(note) for note in result.notes),
        ],
    )


def _comparison(result: MddkmReproduction, png: bytes) -> Section:
    return Section(
        "Areas and accuracies",
        [
            "Area under the ROC curve of known against foreign rows, and accuracy of the best "
            "class on known rows: means over seeds.",
            table(result.comparison(), "Area / accuracy"),
            picture(png, "Areas by set and method, with the standard deviation over seeds."),
        ],
    )


def _heat(result: MddkmReproduction, pictures: Mapping[str, bytes]) -> Section:
    return Section(
        "Length-scale and ridge",
        [
            "Area of MDD-KM with length-scale and ridge set by hand. Ranks are taken by the "
            "logarithm of q = 1 - d / sigma², which does not round away as d does.",
            picture(pictures["heat-map"], "Area by length-scale and ridge."),
            table(
                result.heat_table(),
                "The same by d, where it differs",
                dict.fromkeys(("by q", "by d"), ".3f"),
            ),
        ],
    )
