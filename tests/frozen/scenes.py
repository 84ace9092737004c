"""Commands whose outcomes are frozen, besides those that the documentation shows.

A scene is a list of commands that run one after another in a folder of their own, in which the
files of ``tests/data/tables`` are found. A command is its words and what is typed into it.
"""

import gzip
import shlex
import shutil
from typing import NamedTuple

import numpy as np
import pandas as pd

from .drawn_inputs import RATE
from .sessions import STRATEGIES
from .storage import DATA, inputs

TABLES = DATA / "tables"


class Command(NamedTuple):
    """The words of a command, and what is typed into it."""

    words: list[str]
    stdin: str = ""


def prepare(folder):
    """Copy the tables into a folder, unpack those that are packed, and write the recordings."""
    for source in sorted(TABLES.rglob("*")):
        target = folder / source.relative_to(TABLES)
        if source.is_dir():
            target.mkdir()
        elif source.suffix == ".gz":
            target.with_suffix("").write_bytes(gzip.decompress(source.read_bytes()))
        else:
            shutil.copyfile(source, target)
    shutil.copytree(DATA / "models", folder / "models", ignore=shutil.ignore_patterns("*.npz"))
    write_sounds(folder)
    _write_stand_ins(folder / "data")


def _write_stand_ins(folder):
    """Write small tables under the names of two real ones, for the reproductions."""
    folder.mkdir()
    i = inputs()
    yeast = pd.DataFrame(i["rare"], columns=list("abcd")).assign(label=i["rare_labels"])
    yeast.to_parquet(folder / "yeast.parquet")
    rows = np.hstack([i["rows"], i["rows"][::-1]])
    values = pd.DataFrame(np.vstack([rows, rows[:5] + 8])).rename(columns=str)
    values.assign(label=[-1] * 120 + [1] * 5).to_parquet(
        folder / "mammography.parquet", index=False
    )


def write_sounds(folder):
    """Write the drawn clips and the song as recordings, with annotations of the song."""
    import soundfile

    i = inputs()
    (folder / "sounds").mkdir()
    borders = np.cumsum(i["clip_lengths"])[:-1]
    for number, clip in enumerate(np.split(i["clips"], borders)):
        name = f"{i['clip_labels'][number]}-{number}.wav"
        soundfile.write(folder / "sounds" / name, clip, RATE, subtype="PCM_16")
    stereo = np.column_stack([i["song"], i["song"] // 2])
    soundfile.write(folder / "song.wav", stereo, RATE, subtype="PCM_16")
    lines = [
        f"{start:.4f}\t{end:.4f}\t{label}"
        for label, (start, end) in zip(i["song_labels"], i["song_times"], strict=True)
    ]
    (folder / "song.txt").write_text("\n".join([*lines, ""]))
    selections = ["Selection\tBegin Time (s)\tEnd Time (s)\tBegin File\tSpecies"]
    for number, line in enumerate(lines, start=1):
        times, _, label = line.rpartition("\t")
        selections.append(f"{number}\t{times}\tsong.wav\t{label}")
    (folder / "song.selections.txt").write_text("\n".join([*selections, ""]))


IRISES = "known.csv new.csv --id-column specimen --drop species --max-false-alarm 0.1"
HALF = "--holdout 0.5"  # the default of the landed version
WINES = "demo/wines.csv --id-column wine --label-column cultivar"
GAPS = "gaps.csv --id-column fish --drop some"
FISH = "fish.tps --groups species.csv --group-column species"

NOVELTY = [
    *(f"novelty {IRISES} --method {m} --json --save-model novelty-{m}.kernova "
      f"-o {m}.{ending} {HALF}"
      for m, ending in zip(
          ("depth", "spatial-depth", "isolation-forest", "one-class-svm", "lof"),
          ("csv", "tsv", "parquet", "arrow", "feather"), strict=True)),
    f"novelty {IRISES} --bandwidth reach --bound hoeffding --max-false-alarm 0.4 --json {HALF}",
    f"novelty {IRISES} --bandwidth median --holdout 0.6 --confidence 0.9 --seed 3 --json -o v.json",
    f"novelty {IRISES} --bandwidth 0.8 --false-discovery-rate 0.2 --scaling minmax --top 5 {HALF}",
    f"novelty {IRISES} --scaling none --report page.html {HALF}",
    f"novelty gaps.csv {GAPS} --label-column kind --missing fill --max-false-alarm 0.2 --json "
    f"{HALF}",
    f"novelty gaps.csv {GAPS} --drop kind --missing drop --max-false-alarm 0.2 {HALF}",
    f"novelty gaps.csv {GAPS} --drop kind {HALF}",
    f"novelty known.csv new.csv --id-column specimen --drop species --max-false-alarm 0.01 {HALF}",
]  # fmt: skip

OUTLIERS = [
    *(f"outliers {WINES} --method {name} --json --top 4"
      for name in ("rkof", "lof", "ldf", "lpf", "depth")),
    f"outliers {WINES} --neighbors 10,20,40 --kernel gaussian --top 5 -o ranked.csv",
    f"outliers {WINES} --neighbors 15 --kernel epanechnikov --scaling standard --json --top 2",
    f"outliers {WINES} --path 5,10,20 --report page.html --top 3 -o ranked.parquet",
    f"outliers {WINES} --contamination 0.05 --scaling none --top 3 --json",
    f"outliers {WINES} --max-false-alarm 0.1 --confidence 0.9 --seed 2 --top 3 --json",
    f"outliers {WINES} --method depth --bandwidth median --max-false-alarm 0.1 --top 2 --json",
    f"outliers {GAPS} --label-column kind --missing fill --top 3 --json",
    f"outliers {GAPS} --drop kind --missing drop --top 3",
    f"outliers {WINES} --neighbors ten",
]  # fmt: skip

RECOGNITION = [
    "learn known.csv --label-column species --id-column specimen -o irises.kernova --json",
    "recognize irises.kernova new.csv --id-column specimen --label-column species --json",
    "recognize irises.kernova new.csv --id-column specimen --drop species -o classes.csv --top 3",
    "learn known.csv --label-column species --id-column specimen --reject 0.2 --scale common "
    "--robust --max-rows-per-class 20 --seed 1 -o robust.kernova",
    "recognize robust.kernova new.csv --id-column specimen --label-column species --nearest 2 "
    "-o classes.parquet --report classes.html --top 2",
    f"learn {GAPS} --label-column kind --missing fill -o gaps.kernova --json",
    f"recognize gaps.kernova {GAPS} --label-column kind --json",
    f"learn {GAPS} --label-column kind --missing drop --scale none -o d.kernova",
    "recognize models/command-learn.kernova new.csv --id-column specimen --drop species --json",
    "recognize models/recognizer-of-landmarks.kernova unnamed.tps --json",
    "recognize models/recognizer-of-sounds.kernova sounds --json",
    "recognize irises.kernova demo/wines.csv --id-column wine",
]

SPECIES = [
    f"species {FISH} --unknown lacustris --components 5 --halvings 4 -o specimens.csv --json",
    f"species {FISH} --unknown marina --features features.toml --size --halvings 2 --json",
    f"species {FISH} --unknown rivalis --bandwidth median --confidence 0.9 --largest-error 0.1 "
    "--halvings 3 --seed 4 --reflection",
    f"species {FISH} --each --halvings 2 --components 4 --least-specimens 10 -o groups.csv --json",
    f"species {FISH} --test unnamed.tps --components 6 --false-discovery-rate 0.1 -o t.csv --json",
    "species fish.tps --id-pattern '([a-z]+)[0-9]' --ids-from id --unknown lac --halvings 2 "
    "--report page.html --components 4",
    f"species {FISH} --unknown nobody",
]

SIMULATE = [
    "simulate rare.csv --label-column kind --id-column row --seeds 2 --questions 40 --json",
    "simulate rare.csv --label-column kind --id-column row --strategies hms-ci,nndm,random "
    "--error-rate 0.2 --seeds 3 -o runs.csv --picture curves.png",
    f"simulate {GAPS} --label-column kind --missing fill --seeds 1 "
    "--strategies strangers-and-crowds,interleave --json",
    "simulate rare.csv --label-column kind --strategies nonsense",
]

_SAID = """cod
eel
skip
all cod
undo
cod
change 1 = pike
label r050 = bleak
rename eel = conger
merge cod = bleak
list
?
=skip
delete =skip
change 2 =
label nobody = cod
tench
"""
_NAMES = "\n".join(["cod", "eel", "pike", "cod", "skip", "eel", "all cod", "tench", "cod", ""])
_RARE = "discover rare.csv --id-column row --drop kind --terminal"

DISCOVER = [
    Command(shlex.split(f"{_RARE} -o rows.csv"), _SAID),
    Command(shlex.split(f"{_RARE} --json -o rows.parquet"), "cod\nperch\n"),
    Command(shlex.split(f"{_RARE} --questions 2"), "cod\nperch\ncod\n"),
    *(
        Command(shlex.split(f"{_RARE} --strategy {name} --seed 3 --project {name}.kernova-project "
                            "--json"), _NAMES)
        for name in STRATEGIES
    ),
    Command(shlex.split(f"{_RARE} --strategy random")),  # the project has another
    Command(shlex.split("discover gaps.csv --id-column fish --label-column some --drop kind "
                        "--missing fill --terminal --json"), _NAMES),
    Command(shlex.split("discover --demo --terminal --questions 3 --json"), _NAMES),
    Command(shlex.split("discover fish.tps --terminal --json"), _NAMES),
    Command(shlex.split("discover sounds --terminal --json"), _NAMES),
    Command(shlex.split("discover song.selections.txt --audio song.wav --drop Species "
                        "--terminal --json"), _NAMES),
]  # fmt: skip

_LESSON = "notes-demo/lesson.wav notes-demo/lesson.selections.txt"
_DUSK = "notes-demo/night/dusk.wav notes-demo/truth/dusk.selections.txt"

NOTES = [
    "notes demo",
    f"notes learn {_LESSON} --labels buzz,rising -o two.kernova --json",
    "notes find two.kernova notes-demo/night --format csv -o found --combined all.csv --json",
    f"notes check two.kernova {_DUSK} --tolerance 0.01 -o checked --json",
    "notes learn song.wav song.txt --channel 1 -o song.kernova --json",
    "notes learn song.wav song.selections.txt --column label=Species --annotation-format raven "
    "-o species.kernova",
    *(f"notes find song.kernova song.wav --format {kind} -o {kind}"
      for kind in ("raven", "audacity", "textgrid", "csv")),
    "notes find song.kernova song.wav --format raven -o raven --json",
    "notes find song.kernova song.wav --channel 2 --threshold 0.5 --labels rising --json",
    "notes check song.kernova song.wav song.txt --threshold 0.2 --channel mean",
    "notes learn song.wav song.txt --preset paper -o paper.kernova",
    "notes find paper.kernova song.wav sounds --json",
    "notes find paper.kernova song.wav --threshold 7.5 --json",
    "notes find models/command-notes-song.kernova song.wav --json",
    "notes find song.kernova known.csv",
]  # fmt: skip

REPRODUCE = [
    "reproduce ksd --folder ksd --seeds 2 --repetitions 20 --json",
    "reproduce mddkm-tables --sets iris --seeds 1 --folder tables --json",
    "reproduce mddkm-tables --sets wine --seeds 1 --folder wine",
    "reproduce hms --data data --sets yeast --seeds 1 --quick --folder hms --json",
    "reproduce rkof --data data --datasets mammography --quick --seeds 2 --folder rkof --json",
    "reproduce mddkm --seeds 1 --folder mddkm --json",
]

GENERAL = ["--version", "novelty", "novelty missing.csv new.csv", "discover", "notes find"]


def scenes():
    """Give all scenes by name."""
    listed = {
        "novelty": NOVELTY, "outliers": OUTLIERS, "recognition": RECOGNITION, "species": SPECIES,
        "simulate": SIMULATE, "discover": DISCOVER, "notes": NOTES, "reproduce": REPRODUCE,
        "general": GENERAL,
    }  # fmt: skip
    return {
        name: [one if isinstance(one, Command) else Command(shlex.split(one)) for one in commands]
        for name, commands in listed.items()
    }
