"""Label Studio: tasks with annotations and suggestions, and the interface that they belong to.

A task is a row. Each expert's label is an annotation, the one that counts last, and suggestions of
the learnt model are predictions. What Label Studio has no field for stands in ``meta``, which it
keeps; :func:`read_tasks` reads both, so that nothing is lost on the way back.
"""

import json
from collections.abc import Iterable
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import numpy as np

from kernova._version import __version__
from kernova.text import format_value
from kernova.workbench.exports.snapshot import Snapshot

CATEGORY, FURTHER, NOTE, FLAG = "category", "further", "note", "flag"
ROW: Final = "row"
FLAGGED: Final = "flagged"
# Files that Label Studio serves from a folder of its own machine.
_LOCAL_FILES: Final = "/data/local-files/?d="
_FEATURES_SHOWN: Final = 12
_TAGS: Final = {"picture": ("Image", "image"), "sound": ("Audio", "audio")}


def label_studio_tasks(snapshot: Snapshot) -> bytes:
    """Return one task for every row."""
    texts = _texts(snapshot)
    tasks = (_task(snapshot, row, texts[row]) for row in range(snapshot.n_rows))
    lines = ",\n".join(json.dumps(task, ensure_ascii=False) for task in tasks)
    return f"[\n{lines}\n]\n".encode()


def label_studio_interface(snapshot: Snapshot) -> bytes:
    """Return the labelling interface as XML, for a project of such tasks."""
    tag, field = _TAGS.get(snapshot.media.kind, ("Text", "text"))
    choices = _choice_tags(snapshot.categories)
    further = dict.fromkeys(name for names in snapshot.tags.values() for name in names)
    more = _choice_tags(further)
    tags = f'  <Choices name="{FURTHER}" toName="{ROW}" choice="multiple">\n{more}  </Choices>\n'
    return (
        f'<View>\n  <{tag} name="{ROW}" value="${field}"/>\n'
        f'  <Choices name="{CATEGORY}" toName="{ROW}" choice="single">\n{choices}  </Choices>\n'
        f"{tags if more else ''}"
        f'  <Choices name="{FLAG}" toName="{ROW}" choice="multiple">\n'
        f'    <Choice value="{FLAGGED}"/>\n  </Choices>\n'
        f'  <TextArea name="{NOTE}" toName="{ROW}" maxSubmissions="1"/>\n</View>\n'
    ).encode()


def _choice_tags(names: Iterable[str]) -> str:
    return "".join(f"    <Choice value={quoteattr(name)}/>\n" for name in names)


def _task(snapshot: Snapshot, row: int, text: str) -> dict[str, Any]:
    annotations = _annotations(snapshot, row)
    suggestion = _prediction(snapshot, row)
    is_open = not snapshot.labels[row] and snapshot.status[row] in ("unsure", "skipped")
    label = snapshot.labels[row]
    heading = None if label is None else snapshot.headings.get(label)
    meta = {
        **({"status": snapshot.status[row]} if is_open else {}),
        **({"heading": heading} if heading is not None else {}),
    }
    return {
        "id": row + 1,
        "data": {"id": str(snapshot.ids[row]), **_shown(snapshot, row, text)},
        **({"meta": meta} if meta else {}),
        "annotations": annotations,
        "predictions": [] if suggestion is None else [suggestion],
    }


def _texts(snapshot: Snapshot) -> list[str]:
    """Return the values of each row as text, for rows without a file to look at."""
    ids = list(map(str, snapshot.ids))
    if snapshot.table is None or snapshot.media.kind in _TAGS:
        return ids
    features = snapshot.table.features.iloc[:, :_FEATURES_SHOWN]
    columns = [
        [f"{name}: {format_value(value)}" for value in features[name].tolist()] for name in features
    ]
    return [f"{one}. {'; '.join(values)}" for one, *values in zip(ids, *columns, strict=True)]


def _shown(snapshot: Snapshot, row: int, text: str) -> dict[str, str]:
    """Return what an annotator sees of a row: its file, or else its values."""
    if snapshot.media.kind not in _TAGS:
        return {"text": text}
    name = snapshot.media.file_name(row)
    shown = {_TAGS[snapshot.media.kind][1]: "" if name is None else f"{_LOCAL_FILES}{name}"}
    interval = snapshot.media.interval(row)
    if interval is not None:
        shown |= {"start": f"{interval.start:.6g}", "end": f"{interval.end:.6g}"}
    return shown


# --- annotations -----------------------------------------------------------------------------


def _annotations(snapshot: Snapshot, row: int) -> list[dict[str, Any]]:
    """Return the opinion of each expert, the label that counts last; remarks go with it."""
    label, author = snapshot.labels[row], snapshot.experts[row]
    others = [
        _annotation(snapshot, [_choice(CATEGORY, [one.label], _origin(one.by))], None)
        for one in snapshot.opinions.get(row, ())
        if one.by != author
    ]
    remarks = _remarks(snapshot, row)
    if label is None:
        return [_annotation(snapshot, remarks, None)] if remarks else []
    facts = snapshot.facts_of(row)
    origin: dict[str, Any] = {
        name: facts[name] for name in ("status", "probability", "confidence") if name in facts
    }
    if others and row not in snapshot.disputed:
        origin["settled"] = True
    own = _choice(CATEGORY, [label], {**_origin(author), **origin})
    return [*others, _annotation(snapshot, [own, *remarks], facts.get("time"))]


def _origin(expert: str | None) -> dict[str, Any]:
    return {} if expert is None else {"expert": expert}


def _remarks(snapshot: Snapshot, row: int) -> list[dict[str, Any]]:
    found = []
    if row in snapshot.tags:
        found.append(_choice(FURTHER, list(snapshot.tags[row])))
    if row in snapshot.flagged:
        found.append(_choice(FLAG, [FLAGGED]))
    if row in snapshot.notes:
        value = {"text": [snapshot.notes[row]]}
        found.append(
            {"id": NOTE, "from_name": NOTE, "to_name": ROW, "type": "textarea", "value": value}
        )
    return found


def _annotation(
    snapshot: Snapshot, result: list[dict[str, Any]], time: str | None
) -> dict[str, Any]:
    made = time or snapshot.made_at
    return {
        "result": result,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": made,
        "updated_at": made,
    }


def _choice(name: str, choices: list[str], meta: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "id": name,
        "from_name": name,
        "to_name": ROW,
        "type": "choices",
        "value": {"choices": choices},
        **({"meta": meta} if meta else {}),
    }


def _prediction(snapshot: Snapshot, row: int) -> dict[str, Any] | None:
    """Return the suggestion of the learnt model for a row without label."""
    learnt = snapshot.learnt
    if learnt is None or snapshot.labels[row] is not None:
        return None
    code = int(learnt.judged.suggested[row])
    probability = float(learnt.judged.probability[row])
    if code < 0 or learnt.judged.is_unknown[row] or np.isnan(probability):
        return None
    return {
        "model_version": f"kernova {__version__}",
        "score": round(probability, 4),
        "result": [_choice(CATEGORY, [learnt.names[code]])],
    }
