"""Run commands of the command line, and keep what they answer apart from its wording.

Of what is printed, the numbers are kept in order; of JSON, keys and values; of tables and
annotations that are written, names and values of the columns. Sentences count by the numbers in
them, long lists by totals and a sample.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from .sessions import STRATEGIES
from .storage import numbers_in

# Words of the landed version that were renamed on purpose, and what they are now: values in JSON
# and tables, and names of columns. Either word is accepted.
RENAMED: dict[str, str] = {"strangers-and-crowds": "novelty-density"}
# The default strategy of the landed version, and all that it had, by their present names. Today
# they are passed by name, since another strategy is the default and ``all`` are more.
LANDED_STRATEGY = "novelty-density"
LANDED_STRATEGIES = tuple(RENAMED.get(name, name) for name in STRATEGIES)
# Keys that a reply has since got in addition, by the end of their path.
ADDED: dict[str, str] = {
    "card/aligned": "the same columns for every row",
    "card/context": "columns that are no features",
    "card/link": "address of the row elsewhere",
    "answer/aligned": "the same of a row alone",
    "answer/context": "columns that are no features",
    "answer/link": "address of the row elsewhere",
    "media/files": "all pictures or sounds of a row",
    "question/is_blind": "whether the answers of others are not shown",
    "answer/doubt": "whether a name may be someone else's",
    "preparation/is_complete": "whether questions no longer come from a sample",
    "preparation/left": "time left in words",
    "learn/left": "time left in words",
    "learnt/answer/left": "time left in words",
    "experts[0]/comparisons": "rows answered for comparison",
    "experts[1]/comparisons": "rows answered for comparison",
    "saved/warning": "where an entry is if the project was displaced",
    "settings/calibration": "hold-out or folds",
    "settings/n_folds": "their number",
    "settings/group_column": "rows that belong together",
    "json/explanations": "reasons for novel rows",
    "rows/because": "the same in short",
    "columns/because": "the same in tables",
    "settings/top": "number of rows to explain",
    "json/members": "agreement of the members of an ensemble",
    "json/accuracy": "of cross-validation",
    "json/unknown": "fraction called unknown in it",
    "json/reject": "the rate at which rows were judged",
    "settings/reject": "the rate asked for, if not that of training",
    "settings/method": "of learning",
    "settings/per_class": "rejection class by class",
    "settings/class_weight": "prior probabilities of classes",
    "advice/unmet": "numbers of the estimate",
    "answer/baseline_band": "of the random baseline",
    "answer/accepted": "rows with an accepted suggestion",
    "learn/generation": "number of the model",
    "learnt/answer/generation": "the same",
    "question/guess": "best guess of the model",
    **{f"categories[{k}]/accepted": "rows with an accepted suggestion" for k in range(5)},
    "card/note": "a remark on a row",
    "card/is_flagged": "whether it is flagged",
    "card/also": "its further labels",
    "card/status": "accepted, or left undecided",
    "card/confidence": "of the expert",
    "rows/7/answer/note": "the same of a row by itself",
    "rows/7/answer/is_flagged": "the same",
    "rows/7/answer/also": "the same",
    "rows/7/answer/status": "the same",
    "rows/7/answer/confidence": "the same",
    "answer/noun": "what a row is called",
    "answer/unsure": "number of rows left undecided",
    "answer/flagged": "number of flagged rows",
    "answer/has_further_labels": "an option of the project",
    **{f"categories[{k}]/key": "of the keyboard" for k in range(5)},
    **{f"categories[{k}]/heading": "of two-level categories" for k in range(5)},
}
# Estimates that are fitted to tables, and anew with every other default strategy, by the end of
# their path: that they are there is compared, but not what they are.
FITTED: dict[str, str] = {
    "advice/guessed": "what is probably unmet",
    "advice/questions_left": "when to stop, which follows from it",
    "answer/by_lot": "random baseline",
    "advice/known[1]/sentence": "of one row, whose number is no longer written",
    "answer/learn": "how far learning is, which begins by itself",
}

_ADDED = tuple(f"/{end}" for end in ADDED)
_FITTED = tuple(f"/{end}" for end in FITTED)
# The same, printed; the landed version called it a guess.
_FITTED_LINE = re.compile(r"^(?:(?:Guess|Estimate|Advice): |A category of more than ).*$", re.M)
MAX_LIST = 30
N_SAMPLED = 12
_TIMES = ("_seconds",)  # how long something took is no result
_TABLES = {
    ".csv": pd.read_csv,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".arrow": pd.read_feather,
}
_TOKEN = re.compile(
    r"(?<![\w.\-/])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)"
)


def run_command(words, stdin=""):
    """Run ``kernova WORDS`` in this process and folder; give exit code, output and complaints."""
    from kernova.__main__ import main

    out, complaints = _stream(), _stream()
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr, signal.getsignal(signal.SIGTERM)
    sys.argv, sys.stdin = ["kernova", *words], _stream(stdin)
    sys.stdout, sys.stderr = out, complaints
    code = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code or 0
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr, handler = before
        signal.signal(signal.SIGTERM, handler)
    return code, _text(out), _text(complaints)


def _stream(text=""):
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")


def _text(stream):
    stream.flush()
    return stream.buffer.getvalue().decode()


@contextlib.contextmanager
def working_in(folder):
    """Work in a folder for a while, with a fixed width of the terminal."""
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = "400"
    try:
        yield
    finally:
        os.chdir(before)
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns


def _parsed(text):
    """Parse JSON, with infinity as null.

    The landed version wrote infinity as null in some commands and as "inf" in others; there is
    one rule now, the text.
    """
    return _without_infinity(json.loads(text))


def _without_infinity(value):
    if isinstance(value, dict):
        return {key: _without_infinity(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_infinity(part) for part in value]
    return None if isinstance(value, str) and value in ("inf", "-inf") else value


def outcome_of(words, stdin=""):
    """Run a command in the current folder, and give what is to be compared."""
    before = _files()
    code, out, complaints = run_command(words, stdin)
    after = _files()
    outcome = {"exit": code}
    if "--json" in words and code == 0:
        outcome["json"] = condensed(_parsed(out))
    else:
        outcome["printed"] = tokens_in(_FITTED_LINE.sub("", out))
    if code:
        outcome["complaint"] = tokens_in(complaints)
    written = sorted(name for name, state in after.items() if before.get(name) != state)
    outcome["files"] = {name: file_values(Path(name)) for name in written}
    return _without_seconds(outcome) if words[0] == "reproduce" else outcome


def _without_seconds(value):
    """Leave out how long the parts of a reproduction took; elsewhere, seconds are of recordings."""
    if isinstance(value, list):
        return [_without_seconds(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: "a time" if key == "seconds" else _without_seconds(one) for key, one in value.items()
    }


def _files():
    paths = [path for path in Path().rglob("*") if path.is_file()]
    return {path.as_posix(): (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}


def tokens_in(text):
    """Find the numbers of a text, as they are written."""
    return [token.replace(",", "").replace("−", "-") for token in _TOKEN.findall(text)]


def file_values(path):
    """Give the columns of a table, the content of JSON, the fields of an annotation, or nothing."""
    ending = path.suffix.lower()
    if path.stat().st_size == 0:
        return "empty"
    if ending in _TABLES:
        return condensed_table(_TABLES[ending](path))
    if ending == ".json":
        return condensed(_parsed(path.read_text()))
    if path.name.endswith(".selections.txt"):
        return condensed_table(pd.read_csv(path, sep="\t"))
    if ending == ".txt":
        return condensed_table(pd.read_csv(path, sep="\t", header=None))
    if ending in (".textgrid", ".tps"):
        return {"tokens": _condensed_numbers(numbers_in(path.read_text()))}
    return "written"  # pages, pictures, models, projects and recordings


# Condensing


def condensed_table(table):
    """Give a data frame as its columns."""
    columns = condensed({str(name): _plain(column) for name, column in table.items()})
    return {"rows": len(table), "order": [str(name) for name in table], "columns": columns}


def _plain(column):
    values = column.astype(object).where(column.notna(), None).tolist()
    return [one.item() if isinstance(one, np.generic) else one for one in values]


def condensed(value):
    """Shorten what JSON can say, so that it can be stored and compared."""
    if isinstance(value, dict):
        return {
            key: "a time" if str(key).endswith(_TIMES) else condensed(one)
            for key, one in value.items()
        }
    if isinstance(value, str):
        return {"sentence": tokens_in(value)} if " " in value.strip() else value
    if not isinstance(value, list) or len(value) <= MAX_LIST:
        return [condensed(one) for one in value] if isinstance(value, list) else value
    if all(isinstance(one, dict) for one in value):
        keys = list(dict.fromkeys(key for one in value for key in one))
        columns = {key: [one.get(key) for one in value] for key in keys}
        return {"rows": len(value), "columns": condensed(columns)}
    if all(one is None or type(one) in (int, float) for one in value):
        return _condensed_numbers(value)
    if all(one is None or isinstance(one, str | bool) for one in value):
        return _condensed_texts(value)
    return [condensed(one) for one in value]


def _condensed_numbers(values):
    array = np.array([np.nan if one is None else one for one in values], dtype=float)
    finite = array[np.isfinite(array)]
    weights = 1 + np.arange(len(finite)) % 7  # tells orders apart
    places = np.unique(np.linspace(0, len(array) - 1, N_SAMPLED).astype(int)) if len(array) else []
    return {
        "numbers": len(array),
        "missing": int(np.isnan(array).sum()),
        "size": float(np.abs(finite).sum()),
        "total": float(finite.sum()),
        "weighted": float((weights * finite).sum()),
        "sampled": [None if np.isnan(array[k]) else float(array[k]) for k in places],
    }


def _condensed_texts(values):
    texts = [str(one) for one in values]
    if any(" " in text.strip() for text in texts):
        return {"sentences": _condensed_numbers(numbers_in("\n".join(texts)))}
    distinct = list(dict.fromkeys(texts))
    codes = [distinct.index(text) for text in texts]
    kept = distinct if len(distinct) <= MAX_LIST else [*distinct[:3], *distinct[-3:]]
    return {
        "texts": len(texts),
        "distinct": kept,
        "order": hashlib.sha256(json.dumps(codes).encode()).hexdigest()[:16],
    }


# Comparing


def unlike(now, then, rtol=1e-9, renamed=None, path=""):
    """List in words how two outcomes differ; ``renamed`` maps words of then to words of now."""
    renamed = RENAMED if renamed is None else renamed
    if path.endswith(_FITTED):
        return [] if type(now) is type(then) else [f"{path}: {now!r}, was {then!r}"]
    if isinstance(then, dict) and isinstance(now, dict):
        return _unlike_dicts(now, then, rtol, renamed, path)
    if isinstance(then, list) and isinstance(now, list):
        if len(now) != len(then):
            return [f"{path}: {len(now)} values, were {len(then)}: {now[:12]}, were {then[:12]}"]
        pairs = zip(now, then, strict=True)
        return [
            d for k, (a, b) in enumerate(pairs) for d in unlike(a, b, rtol, renamed, f"{path}[{k}]")
        ]
    if type(then) in (int, float) and type(now) in (int, float):
        return (
            [] if np.isclose(now, then, rtol=rtol, atol=1e-12) else [f"{path}: {now}, was {then}"]
        )
    if isinstance(then, str) and isinstance(now, str):
        is_same = now in (then, renamed.get(then)) or _same_token(now, then)
        return [] if is_same else [f"{path}: {now!r}, was {then!r}"]
    return [] if now == then else [f"{path}: {now!r}, was {then!r}"]


def _unlike_dicts(now, then, rtol, renamed, path):
    then = {
        renamed[key] if key not in now and renamed.get(key) in now else key: value
        for key, value in then.items()
    }
    then |= {key: now[key] for key in set(now) - set(then) if f"{path}/{key}".endswith(_ADDED)}
    if set(now) != set(then):
        lost_keys, new_keys = sorted(set(then) - set(now)), sorted(set(now) - set(then))
        return [f"{path}: keys gone {lost_keys}, keys new {new_keys}"]
    if "numbers" in then and "size" in then:
        room = 1e-12 + 7 * rtol * abs(then["size"])
        for name in ("total", "weighted", "size"):
            if abs(now[name] - then[name]) > room:
                return [f"{path}/{name}: {now[name]}, was {then[name]}"]
        now, then = ({k: d[k] for k in ("numbers", "missing", "sampled")} for d in (now, then))
    return [d for key in then for d in unlike(now[key], then[key], rtol, renamed, f"{path}/{key}")]


def _same_token(now, then):
    """Tell whether two printed numbers differ by no more than rounding of the last digit."""
    try:
        a, b = float(now), float(then)
    except ValueError:
        return False
    return abs(a - b) <= 1.01 * max(_last_place(now), _last_place(then))


def _last_place(token):
    digits, _, exponent = token.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    is_whole = decimals == 0 and not exponent
    return 0.0 if is_whole else 10.0 ** (int(exponent or 0) - decimals)
