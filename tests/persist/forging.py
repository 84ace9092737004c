"""Forged model files: changed contents with correct checksums."""

import io
import json
import zipfile
from typing import NamedTuple

import numpy as np
import pytest

from kernova import ModelFileError, load_model


class Parts(NamedTuple):
    """Contents of a model file."""

    header: dict
    schema: dict
    arrays: dict

    @classmethod
    def of(cls, path):
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("kernova.json"))
            with zipfile.ZipFile(io.BytesIO(archive.read("model.skops"))) as dump:
                arrays = {name: dump.read(name) for name in dump.namelist()}
        return cls(header, json.loads(arrays.pop("schema.json")), arrays)

    def write(self, path, compression=zipfile.ZIP_DEFLATED):
        dump = zip_of({"schema.json": json.dumps(self.schema), **self.arrays})
        parts = {"kernova.json": json.dumps(self.header), "model.skops": dump}
        path.write_bytes(zip_of(parts, compression))


def zip_of(parts, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def array_of(value):
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=True)
    return buffer.getvalue()


def node(loader, type_name, **more):
    """One object of a schema."""
    module, _, name = type_name.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, **more}


def list_of(nodes):
    return node("ListNode", "builtins.list", content=nodes)


def dicts_in(schema):
    """Every dict in a schema, from the root on."""
    if isinstance(schema, dict):
        yield schema
    if isinstance(schema, (dict, list)):
        for inner in schema.values() if isinstance(schema, dict) else schema:
            yield from dicts_in(inner)


def attribute(schema, name):
    """The node of the first attribute of this name."""
    return next(found[name] for found in dicts_in(schema) if isinstance(found.get(name), dict))


def put(schema, name, new):
    """Put another node in the place of an attribute."""
    old = attribute(schema, name)
    old.clear()
    old.update(new)


def load_error(path, **options):
    """Load a file that must be rejected, and return the message."""
    with pytest.raises(ModelFileError) as caught:
        load_model(path, **options)
    return str(caught.value)
