"""Outputs of public names on files, specimens, recordings and sessions with an expert."""

import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

import kernova

from .drawn_inputs import RATE
from .landed_species import kept_lines
from .outputs_tables import mixed_table
from .sessions import STRATEGIES
from .storage import inputs, vectors

CASES = {}


def case(function):
    """Register a function without arguments as a case under its own name."""
    CASES[function.__name__] = function
    return function


# Files


@case
def tables():
    table, found = mixed_table(), {}
    table.insert(0, "fish", [f"f{number:03}" for number in range(len(table))])
    with tempfile.TemporaryDirectory() as folder:
        for ending, write in {
            ".csv": lambda path: table.to_csv(path, index=False),
            ".tsv": lambda path: table.to_csv(path, index=False, sep="\t"),
            ".parquet": lambda path: table.to_parquet(path, index=False),
            ".feather": lambda path: table.to_feather(path),
        }.items():
            path = Path(folder) / f"fish{ending}"
            write(path)
            read = kernova.read_table(path, id_column="fish", label_column="place", drop=["count"])
            found[ending] = [read.features, read.ids, read.labels, read.columns]
        gaps = table.assign(length=table["length"].where(table["length"] > 4))
        gaps.to_csv(path := Path(folder) / "gaps.csv", index=False)
        for missing in ("drop", "keep"):
            read = kernova.read_table(path, id_column="fish", missing=missing)
            found[missing] = [read.features["length"], read.ids, read.n_dropped]
    return found


@case
def specimens_in_files():
    i = inputs()
    ids = tuple(f"s{number:02}_{group}" for number, group in enumerate(i["groups"]))
    coordinates = i["landmarks"].copy()
    coordinates[3, 2] = np.nan
    scales = np.where(np.arange(len(ids)) % 2, 0.5, 0.25)
    known = kernova.Landmarks(ids, coordinates, scales=scales)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fish.tps"
        kernova.write_tps(known, path)
        text = path.read_text()
        read = kernova.read_tps(path)
        scaled = kernova.read_tps(path, scaled=True, ids_from="number")
        wide = Path(folder) / "wide.csv"
        names = [f"{axis}{place}" for place in range(1, 8) for axis in "xy"]
        table = pd.DataFrame(i["landmarks"].reshape(len(ids), -1), columns=names)
        table.insert(0, "id", ids)
        table.assign(group=i["groups"]).to_csv(wide, index=False)
        from_table = kernova.read_landmark_table(wide, id_column="id").landmarks
        groups = kernova.groups_from_table(wide, ids, group_column="group", id_column="id")
    return {
        "text": text,
        "read": [read.ids, read.coordinates, read.scales, read.is_missing],
        "scaled": [scaled.ids, scaled.coordinates],
        "wide": [from_table.ids, from_table.coordinates],
        "groups": groups,
        "pattern": kernova.groups_from_pattern(r"_([a-z]+)", ids),
    }


@case
def recordings_in_files():
    import soundfile

    song = song_of_inputs().samples
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "song.wav"
        soundfile.write(path, np.column_stack([song, song[::-1]]), RATE, subtype="PCM_16")
        info = kernova.audio_info(path)
        blocks = list(kernova.audio_blocks(path, start=0.2, end=1.0, channel=1, block_seconds=0.3))
        return {
            "info": [info.sample_rate, info.n_channels, info.n_samples, info.seconds],
            "mean": kernova.read_audio(path).samples,
            "second": kernova.read_audio(path, 0.1, 0.5, channel=2).samples,
            "resampled": kernova.read_audio(path, sample_rate=11025).samples,
            "blocks": np.concatenate(blocks),
            "block_lengths": [len(block) for block in blocks],
        }


@case
def annotations():
    notes, found = marks_of_inputs(), {}
    scored = [
        note._replace(score=0.5 + 0.05 * place, low_hz=1000.0, high_hz=5000.0, file="a.wav")
        for place, note in enumerate(notes)
    ]
    kernova.check_segments(scored, duration=10.0)
    with tempfile.TemporaryDirectory() as folder:
        for kind, ending in (
            ("raven", ".selections.txt"), ("audacity", ".txt"), ("textgrid", ".TextGrid"),
            ("csv", ".csv"),
        ):  # fmt: skip
            path = Path(folder) / f"notes{ending}"
            kernova.write_annotations(
                scored, path, format=kind, sample_rate=RATE, duration=10.0, channel=1
            )
            read = kernova.read_annotations(path)
            found[kind] = {"text": path.read_text(), "read": pd.DataFrame(read)}
    by_file = kernova.segments_by_file(scored)
    return {**found, "by_file": {str(key): pd.DataFrame(part) for key, part in by_file.items()}}


# Representations


@case
def procrustes():
    i, found = inputs(), {}
    gaps = i["landmarks"].copy()
    gaps[2, 3] = gaps[9, 0] = np.nan
    for name, (coordinates, parameters) in {
        "plane": (i["landmarks"], {}),
        "reflection": (i["landmarks"] * np.where(np.arange(56) % 3, 1, -1)[:, None, None] * [1, -1],
                       {"reflection": True}),
        "unscaled": (i["landmarks"], {"scaling": False}),
        "space": (i["solid"], {"dimensions": 3}),
        "gaps": (gaps, {}),
    }.items():  # fmt: skip
        model = kernova.GeneralizedProcrustes(**parameters).fit(coordinates)
        rows = model.transform(coordinates.reshape(len(coordinates), -1))
        aligned = model.align(coordinates)
        found[name] = [model.consensus_, rows, aligned.coordinates]
    return found


@case
def shape_measures():
    i = inputs()
    formulas = {"length": "|1-5|", "ratio": "|1-5| / |3-7|"}
    features = kernova.shape_features(formulas)
    shipped = kernova.read_shape_features("cichlids")
    return {
        "measured": features.measure(i["landmarks"]),
        "names": features.names,
        "size_dependent": features.size_dependent,
        "shipped": [shipped.names, shipped.formulas],
    }


@case
def linear_dynamics():
    v, found = vectors("hlds"), {}
    for layers in ((8, 4, 2), (96, 24, 12)):
        frames = v["Y_" + "_".join(map(str, layers))]
        for output in ("top", "level", "all"):
            for noise in (1.0, 1e4):
                model = kernova.HierarchicalLinearDynamics(layers, output, noise).fit(frames)
                found[f"{layers[0]}_{output}_{noise:g}"] = model.transform(frames)
        blocks = [frames[:100], frames[100:130], frames[130:]]
        found[f"{layers[0]}_blocks"] = np.vstack(list(model.transform_blocks(blocks)))
        default = kernova.HierarchicalLinearDynamics().fit(frames)
        found[f"{layers[0]}_default"] = default.transform(frames)
    return found


# Species


def _landmarks():
    i = inputs()
    ids = tuple(f"s{number:02}" for number in range(len(i["groups"])))
    return kernova.Landmarks(ids, i["landmarks"]), i["groups"].tolist()


@case
def species():
    """Keep what the landed score gives; see ``landed_species`` for what was dropped, and why."""
    known, groups = _landmarks()
    new = kernova.Landmarks(tuple("ABCDEF"), inputs()["unnamed"])
    settings = partial(kernova.SpeciesSettings, score="depth")
    plain = settings(components=4, halvings=3, weighting="none", remainder=False)
    usual = settings(components=5, halvings=3, seed=2)
    sized = settings(components=4, halvings=2, size=True, bandwidth="median")
    measured = settings(
        features=kernova.shape_features({"ratio": "|1-5| / |3-7|", "depth": "|3-7|"}), halvings=2
    )
    found = {}
    for name, one in {
        "plain": plain, "usual": usual, "sized": sized, "measured": measured,
    }.items():  # fmt: skip
        study = kernova.study_unknown(known, groups, "lacustris", one)
        halvings, pairs = kept_lines(study.halvings, "halvings"), kept_lines(study.pairs, "pairs")
        found[name] = [halvings, pairs, list(study.not_compared), study.n_unknown]
    each = kernova.study_each(known, groups, plain, least_specimens=4)
    lines = kept_lines(each.summary.select_dtypes("number"), "groups")
    found["each"] = {"0": lines, "2": kept_lines(each.pairs, "pairs")}
    rows = kernova.judge_specimens(known, groups, new, usual).rows
    found["judged"] = kept_lines(rows.drop(columns="verdict"), "rows")
    return found


# Notes


@cache
def song_of_inputs():
    """Give the song as a recording."""
    return kernova.Audio(inputs()["song"] / 32768, RATE)


def clips_of_inputs():
    """Give the clips of known notes, and their labels."""
    i = inputs()
    parts = np.split(i["clips"] / 32768, np.cumsum(i["clip_lengths"])[:-1])
    return [kernova.Audio(part, RATE) for part in parts], i["clip_labels"].tolist()


def marks_of_inputs():
    """Give the known notes of the song."""
    i = inputs()
    return [
        kernova.Segment(float(start), float(end), str(label))
        for label, (start, end) in zip(i["song_labels"], i["song_times"], strict=True)
    ]


ENGINES = {
    "song": {},
    "song_neighbours": {"method": "pknn"},
    "paper": {"preset": "paper"},
    "paper_viterbi": {"preset": "paper", "decoder": "viterbi"},
    "paper_neighbours": {"preset": "paper", "method": "pknn"},
}
THRESHOLDS = {
    "paper_low": {"preset": "paper", "threshold": 7.5},
    "paper_viterbi_low": {"preset": "paper", "decoder": "viterbi", "threshold": 0.5},
}


def note_answers(finder, recording):
    """Ask a finder for the notes of a recording, and for what it heard."""
    scan = finder.scan(recording, 0.2, 0.9)
    return {
        "found": pd.DataFrame(finder.find(recording)).drop(columns="file", errors="ignore"),
        "scan": [scan.times, scan.levels, scan.band_hz, scan.scores, scan.classes],
        "notes": [finder.classes_, finder.n_notes_, finder.sample_rate_],
    }


@case
def note_finders():
    song = song_of_inputs()
    found = _heard_by({name: one for name, one in ENGINES.items() if "preset" not in one})
    finder = kernova.NoteFinder(threshold=0.3).fit_recordings([(song, marks_of_inputs())])
    return {**found, "recordings": note_answers(finder, song)}


@case
def note_finders_of_the_paper():
    return _heard_by({name: one for name, one in ENGINES.items() if "preset" in one} | THRESHOLDS)


def _heard_by(finders):
    clips, labels = clips_of_inputs()
    return {
        name: note_answers(kernova.NoteFinder(**one).fit(clips, labels), song_of_inputs())
        for name, one in finders.items()
    }


# Strategies


@case
def simulations():
    i, found = inputs(), {}
    for strategy in STRATEGIES:
        for error_rate in (0.0, 0.2):
            run = kernova.simulate(
                i["rare"], i["rare_labels"], strategy, error_rate=error_rate, random_state=3,
                max_questions=40,
            )  # fmt: skip
            found[f"{strategy}_{error_rate}"] = [run.asked, run.classes_seen, run.area]
    return found


@case
def questions():
    """Ask thirty questions by every strategy, and keep what each question says in numbers."""
    i, found = inputs(), {}
    for strategy in STRATEGIES:
        session = kernova.CategoryDiscovery(strategy, random_state=1).start(i["rare"])
        lines, members = [], []
        for number in range(30):
            question = session.next_question()
            evidence = dict(
                enumerate(question.evidence.values())
            )  # what they are called may change
            lines.append({"row": question.row, "size": len(question.members), **evidence})
            members.append(question.members)
            if number % 9 == 8:
                session.skip()
            else:
                session.answer(str(i["rare_labels"][question.row]))
        table = pd.DataFrame(lines)
        found[strategy] = [table, np.concatenate(members), session.curve_]
    return found
