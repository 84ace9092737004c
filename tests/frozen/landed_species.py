"""What of the landed ``kernova species`` must still hold, and under which names it is found.

Since decisions 033 and 034 a study answers two questions by other tests, and scores specimens by a
likelihood ratio. Under the landed score (``--score depth``), what is learnt from the splits is what
it was: reading, alignment, components, depths, thresholds, error rates, p-values of specimens, the
groups closest to them, and complaints about bad input. It is compared here; novelty is now the
negative depth, and a threshold that of novelty.

Dropped, since the answers are others by intention:

- what is printed, verdicts on groups, their reasons and notes: their sentences are of other tests;
- p-values of groups, and the closest group: of permutation tests of mean shape and a discriminant;
- the matrix: errors of discriminants;
- bounds of pairs and ``n_holdout``, which nothing rests on any longer;
- verdicts on specimens, which may now be "undecided"; the p-values that they rest on are compared;
- ``landmark`` and ``landmark_p_value``: digitising is checked within groups, by other statistics.

``tests/species`` and ``tests/cli/test_species.py`` test what has taken their place.
"""

import numpy as np

LANDED_OPTIONS = {"--score": "depth", "--curves": "ignore"}

# Names of now by names of then; "-" for a number that had the other sign.
_SPECIMENS = {
    name: name for name in ("id", "p_value", "closest", "closest_p_value")
} | {"depth": "-novelty"}  # fmt: skip
_PAIRS = {name: name for name in ("known", "specimens", "auroc", "unknown")} | {
    "equal_error_rate": "novelty_error",
    "equal_error_rate_spread": "novelty_error_spread",
}
_SPLITS = {
    name: name
    for name in (
        "halving", "e_star", "detection_rate", "false_alarm_bound", "equal_error_rate", "auroc",
        "n_reference", "n_holdout", "exact_false_alarm_bound", "exact_detection_rate",
        "exact_detection_at_least", "e_star_spread", "detection_rate_spread",
        "equal_error_rate_spread", "auroc_spread",
    )
} | {"threshold": "-threshold"}  # fmt: skip
_GROUPS = _SPLITS | {
    "unknown": "unknown",
    "specimens": "specimens",
    "is_masked": "is_masked",
    "worst_pair_error": "worst_novelty_error",
}
_TABLES = {
    "rows": _SPECIMENS, "pairs": _PAIRS, "halvings": _SPLITS, "pooled": _SPLITS, "groups": _GROUPS,
}  # fmt: skip
_ALONE = (
    "unknown", "specimens", "is_masked", "not_compared", "held_out_specimens", "too_small", "files",
)  # fmt: skip


# Outcomes of commands


def kept_outcomes(now, then):
    """Give what is compared of two outcomes of a command, under the landed names."""
    return _kept(now, then, is_now=True), _kept(then, then, is_now=False)


def _kept(outcome, then, *, is_now):
    """Give the kept parts of an outcome; which there are follows from the landed one."""
    kept = {"exit": outcome["exit"]}
    if then["exit"]:
        return outcome  # a complaint
    if "json" in then:
        kept["json"] = _kept_json(outcome["json"], then["json"], is_now=is_now)
    kept["files"] = {}
    for name, content in outcome["files"].items():
        kept["files"][name] = content
        if isinstance(content, dict) and "columns" in content:
            names = _GROUPS if name.startswith("groups") else _SPECIMENS
            columns = _renamed(content["columns"], names, is_now=is_now)
            kept["files"][name] = {"rows": content["rows"], "columns": columns}
    return kept


def _kept_json(found, then, *, is_now):
    kept = {name: found[name] for name in _ALONE if name in then}
    kept["settings"] = {name: found["settings"][name] for name in then["settings"]}
    for name, names in _TABLES.items():
        if name in then:
            kept[name] = _renamed(found[name], names, is_now=is_now)
    if "pairs" in kept:  # they were, and are, ordered by another error
        kept["pairs"].sort(key=lambda pair: (pair.get("unknown", ""), pair["known"]))
    return kept


def _renamed(table, names, *, is_now):
    """Give lines or columns of a table, condensed or not, that are kept, by their landed names."""
    if isinstance(table, list):
        return [_renamed(line, names, is_now=is_now) for line in table]
    if set(table) == {"rows", "columns"}:
        return {**table, "columns": _renamed(table["columns"], names, is_now=is_now)}
    if not is_now:
        return {name: table[name] for name in names if name in table}
    found = {name: now for name, now in names.items() if now.lstrip("-") in table}
    return {
        name: _negative(table[now[1:]]) if now.startswith("-") else table[now]
        for name, now in found.items()
    }


def _negative(value):
    """Give the negative of a number, of a list of them, or of a condensed list."""
    if isinstance(value, list):
        return [_negative(one) for one in value]
    if isinstance(value, dict):
        turned = ("total", "weighted", "sampled")
        return {key: _negative(one) if key in turned else one for key, one in value.items()}
    return None if value is None else -value


# Outputs of the library


def kept_lines(table, part):
    """Give the kept columns of a data frame of a study, under their landed names and in order."""
    found = _renamed({str(key): column for key, column in table.items()}, _TABLES[part],
                     is_now=True)  # fmt: skip
    return _ordered({key: np.asarray(column) for key, column in found.items()})


def kept_arrays(packed):
    """Give the kept arrays of the frozen outputs, in the same order."""
    tables = {}
    for path, array in packed.items():
        study, _, rest = path.partition("/")
        place, _, column = rest.partition("/")
        tables.setdefault((study, place), {})[column] = array
    kept = {}
    for (study, place), columns in tables.items():
        if study == "judged":
            kept[f"judged/{place}"] = columns[""]
            continue
        if (study, place) == ("each", "1"):
            continue  # the matrix
        if "" in columns:  # the groups that were not compared, and the number of specimens
            kept[f"{study}/{place}"] = columns[""]
            continue
        part = {"0": "groups" if study == "each" else "halvings", "1": "pairs", "2": "pairs"}[place]
        columns = _ordered(_renamed(columns, _TABLES[part], is_now=False))
        kept |= {f"{study}/{place}/{name}": array for name, array in columns.items()}
    return {path: array for path, array in kept.items() if "landmark" not in path}


def _ordered(columns):
    """Order pairs by their names; other tables stay as they are."""
    if "known" not in columns:
        return columns
    order = np.lexsort([columns[name] for name in ("known", "unknown") if name in columns])
    return {name: np.asarray(array)[order] for name, array in columns.items()}
