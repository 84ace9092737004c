"""Projects over pictures, sounds, specimens and tables, with labels and remarks of every kind."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
from PIL import Image

from kernova.media.opening import open_discovery_data
from kernova.shapes.landmarks import Landmarks
from kernova.shapes.tps import write_tps
from kernova.workbench import Workbench
from kernova.workbench.discovery import open_discovery

N_ROWS = 24
RATE = 8000
MEDIA = ("table", "pictures", "sounds", "specimens")


def write_rows(folder):
    """Write a table of which two ids look like numbers and one like a formula."""
    rng = np.random.default_rng(0)
    ids = ["007", "=1+2", *(f"row {place}" for place in range(2, N_ROWS))]
    rows = pd.DataFrame({"id": ids, "x": rng.normal(size=N_ROWS), "y": rng.normal(size=N_ROWS)})
    rows.round(4).to_csv(folder / "rows.csv", index=False)
    return ids


def write_pictures(folder):
    (folder / "photos").mkdir()
    for place, one in enumerate(write_rows(folder)):
        if place != 5:  # a row without a picture
            size = (16 + place, 12)
            Image.new("RGB", size, (9 * place, 80, 200)).save(folder / "photos" / f"{one}.png")


def write_sounds(folder):
    import soundfile

    (folder / "songs").mkdir()
    rng = np.random.default_rng(0)
    names = ("Begin Time (s)", "End Time (s)", "Low Freq (Hz)", "High Freq (Hz)", "Begin File")
    lines = ["\t".join(("Selection", *names, "loudness"))]
    for number in range(N_ROWS):
        start, name = 0.2 + 0.5 * (number % 12), "ab"[number // 12] + ".wav"
        low = 500 + number
        lines.append(
            f"{number + 1}\t{start}\t{start + 0.3}\t{low}\t{low + 900}\t{name}\t{number % 7}"
        )
    for name in ("a.wav", "b.wav"):
        soundfile.write(folder / "songs" / name, rng.normal(0, 0.05, 7 * RATE), RATE)
    (folder / "songs.txt").write_text("\n".join(lines) + "\n")


def write_specimens(folder):
    rng = np.random.default_rng(0)
    square = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [0.0, 3.0], [2.0, 1.0]])
    shapes = square + rng.normal(0, 0.2, (N_ROWS, *square.shape))
    ids = tuple(f"fish {place}" for place in range(N_ROWS))
    variables = tuple("sex=F" if place % 2 else "" for place in range(N_ROWS))
    write_tps(Landmarks(ids, shapes, variables=variables), folder / "fish.tps")


OPENING = {
    "table": (write_rows, "rows.csv", {"id_column": "id"}),
    "pictures": (write_pictures, "rows.csv", {"id_column": "id", "images": "photos"}),
    "sounds": (write_sounds, "songs.txt", {"audio": "songs"}),
    "specimens": (write_specimens, "fish.tps", {}),
}


@contextmanager
def workbench_over(folder, media, project="made"):
    """Open a workbench over rows of some media in a folder."""
    write, name, words = OPENING[media]
    if not (folder / name).exists():
        write(folder)
    paths = {
        key: str(folder / one) if key in ("images", "audio") else one for key, one in words.items()
    }
    data = open_discovery_data(folder / name, **paths)
    path = folder / f"{project}.kernova-project"
    discovery = open_discovery(data.table, path, strategy="random", notes=data.notes)
    bench = Workbench(discovery, data.media)
    try:
        yield bench
    finally:
        bench.close()


def label_in_every_way(bench):
    """Give labels by hand and from a model, a second opinion, and remarks of every kind."""
    session = bench.discovery.session
    ids, review = session.ids_, session.review
    session.label_rows(ids[:4], "carp", expert="Anna")
    session.label_rows(ids[1:3], "a name, with; marks = and “quotes”", expert="Bob")
    session.settle(ids[1], "carp", expert="Anna")
    session.next_question("Anna")
    session.release("Anna")
    session.ask_row(ids[4], "You selected this row.", expert="Bob")
    session.answer("=pike", confidence="low", expert="Bob")
    review.accept(
        ids[5:9], ["carp", "carp", "=pike", "eel"], [0.5, 0.875, 0.999, 1.0], expert="Anna"
    )
    review.mark_unsure([ids[9]], expert="Bob")
    review.note(ids[0], 'broken\nfin = bad; "quoted", <b>', expert="Anna")
    review.note(ids[10], "no label, but a note", expert="Anna")
    review.flag([ids[3], ids[11]], expert="Bob")
    review.tag([ids[0], ids[5]], "blurred", expert="Bob")
    review.tag([ids[0]], "at; the edge", expert="Bob")
    review.group(["carp", "=pike"], "freshwater fish", expert="Anna")


def state_of(bench):
    """Return everything about the labels that an export can hold."""
    results = bench.discovery.session.results_
    known = results.annotations
    snapshot = bench.exports.snapshot()
    rows = range(len(results.ids))
    return {
        "labels": results.labels.tolist(),
        "status": snapshot.status.tolist(),
        "experts": [expert for expert, status in zip(snapshot.experts, snapshot.status, strict=True)
                    if status == "hand"],
        "probability": np.nan_to_num(snapshot.probability).tolist(),
        "confidence": [results.confidence_of(row) for row in rows],
        "notes": dict(sorted(known.notes.items())),
        "flagged": sorted(known.flagged),
        "tags": {row: sorted(names) for row, names in sorted(known.tags.items())},
        "headings": dict(sorted(known.headings.items())),
    }  # fmt: skip


def opinions_in(bench):
    results = bench.discovery.session.results_
    return {row: results.opinions_of(row) for row in range(len(results.ids))}
