"""Embeddings instead of columns: matching with rows, files of all kinds, and what is rejected."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from kernova.errors import InputError
from kernova.media.opening import open_discovery_data
from kernova.tables.embeddings import EmbeddingColumns, read_embeddings
from tests.media import inputs, messages
from tests.media.albums import album, vectors

N = 48
VECTORS = vectors(N)
IDS = [f"f{number:02d}" for number in range(N)]


@pytest.fixture
def fish(tmp_path):
    path = tmp_path / "fish.csv"
    rows = pd.DataFrame({"fish": IDS, "note": ["?"] * N, "length": np.arange(N)})
    rows.loc[3, "length"] = np.nan  # of no matter: the columns are not compared
    rows["kind"] = np.repeat(["a", "b", "c", "d"], N // 4)
    rows.to_csv(path, index=False)
    return path


def saved(path, rows=VECTORS, keys=IDS, name="id"):
    """Save vectors in the format of a file's ending."""
    if path.suffix == ".npy":
        np.save(path, rows)
    elif path.suffix == ".npz":
        np.savez(path, X=rows, ids=keys)
    else:
        frame = pd.DataFrame(rows, columns=[f"v{j}" for j in range(rows.shape[1])])
        frame.insert(0, name, keys)
        if path.suffix == ".parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_csv(path, index=False)
    return path


def opened(path, embeddings, **options):
    return open_discovery_data(path, id_column="fish", embeddings=embeddings, **options)


# --- files of all kinds --------------------------------------------------------------------------


def test_features_are_components_and_columns_stay_beside_the_rows(fish, tmp_path):
    data = opened(fish, saved(tmp_path / "clip.npy"), label_column="kind")
    table = data.table
    assert list(table.features) == [f"embedding {number}" for number in range(1, 10)]
    assert table.ids.tolist() == IDS
    assert table.labels.tolist()[:2] == ["a", "a"]
    assert isinstance(table.reader, EmbeddingColumns)
    assert data.context.names == ("note", "length")
    assert data.notes == [messages.COMPARED_BY_EMBEDDINGS.format(path=tmp_path / "clip.npy")]
    # Distances between rows are those of the vectors, but for weak components.
    Z, V = table.features.to_numpy(), VECTORS.astype(float)
    distances, original = (np.linalg.norm(of[:, None] - of[None], axis=2).ravel() for of in (Z, V))
    assert np.corrcoef(distances, original)[0, 1] > 0.95


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".csv"])
def test_rows_are_matched_by_id(fish, tmp_path, ending):
    order = np.random.default_rng(1).permutation(N)
    in_order = opened(fish, saved(tmp_path / "in_order.npy"))
    by_id = opened(fish, saved(tmp_path / f"by_id{ending}", VECTORS[order], np.array(IDS)[order]))
    np.testing.assert_allclose(by_id.table.features, in_order.table.features, atol=1e-4)


def test_lists_are_vectors(fish, tmp_path):
    table = pa.table({"fish": IDS, "vector": VECTORS.tolist(), "model": ["clip"] * N})
    pa.parquet.write_table(table, tmp_path / "lists.parquet")
    found = read_embeddings(tmp_path / "lists.parquet")
    np.testing.assert_allclose(found.vectors, VECTORS)
    assert set(found.keys) == {"fish", "model"}
    assert opened(fish, tmp_path / "lists.parquet").table.features.shape == (N, 9)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8])
def test_any_type_of_number_is_read(fish, tmp_path, dtype):
    rows = VECTORS.astype(dtype)
    plain = opened(fish, saved(tmp_path / "plain.npy", rows.astype(float))).table
    typed = opened(fish, saved(tmp_path / "typed.npy", rows)).table
    np.testing.assert_array_equal(typed.features, plain.features)


def test_npy_files_are_mapped(tmp_path):
    found = read_embeddings(saved(tmp_path / "clip.npy"))
    assert isinstance(found.vectors, np.memmap)


def test_rows_of_a_table_without_ids_are_matched_by_a_column_of_names(tmp_path):
    path = tmp_path / "fish.csv"
    files = [f"photos/{name}.jpg" for name in IDS]
    pd.DataFrame({"length": np.arange(N), "photo": files}).to_csv(path, index=False)
    clip = saved(tmp_path / "clip.parquet", VECTORS[::-1], [f"{name}.jpg" for name in IDS[::-1]])
    by_name = open_discovery_data(path, embeddings=clip).table
    in_order = open_discovery_data(path, embeddings=saved(tmp_path / "clip.npy")).table
    np.testing.assert_allclose(by_name.features, in_order.features, atol=1e-4)


# --- pictures and recordings ---------------------------------------------------------------------


@pytest.mark.parametrize("key", ["{folder}/{stem}{suffix}", "{stem}{suffix}", "{stem}"])
def test_pictures_are_matched_by_path_name_or_stem(tmp_path, key):
    folder = album(tmp_path / "album")
    files = sorted(path.relative_to(folder) for path in folder.rglob("*.png"))
    keys = [key.format(folder=f.parent, stem=f.stem, suffix=f.suffix) for f in files]
    clip = saved(tmp_path / "clip.csv", VECTORS[::-1], keys[::-1], "file")
    by_name = open_discovery_data(folder, embeddings=clip)
    in_order = open_discovery_data(folder, embeddings=saved(tmp_path / "clip.npy"))
    np.testing.assert_allclose(by_name.table.features, in_order.table.features, atol=1e-4)
    assert by_name.media.kind == "picture"
    assert by_name.context.names == ("file", "folder")


def test_tables_with_pictures_keep_them(tmp_path, fish):
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in IDS[:20]:
        (folder / f"{name}.png").write_bytes(inputs.picture("PNG"))
    data = opened(fish, saved(tmp_path / "clip.npy"), images=folder)
    assert next(iter(data.table.features)) == "embedding 1"
    assert [data.media.has(row) for row in (0, 30)] == [True, False]


def test_recordings_are_not_measured(tmp_path):
    folder = tmp_path / "songs"
    folder.mkdir()
    for name in IDS[:12]:
        (folder / f"{name}.wav").write_bytes(inputs.sound("WAV", "PCM_16"))
    data = open_discovery_data(folder, embeddings=saved(tmp_path / "perch.npz"))
    assert list(data.table.features) == ["embedding 1", "embedding 2"]
    assert data.media.kind == "sound"
    assert data.notes[1] == messages.SURPLUS.format(path=tmp_path / "perch.npz", folder=folder)


# --- missing and surplus rows --------------------------------------------------------------------


def test_rows_without_an_embedding_are_named_or_dropped(fish, tmp_path):
    clip = saved(tmp_path / "clip.parquet", VECTORS[2:], IDS[2:])
    with pytest.raises(InputError) as rejected:
        opened(fish, clip)
    assert str(rejected.value) == messages.NO_EMBEDDING.format(path=clip, fish=fish)
    table = opened(fish, clip, missing="drop").table
    assert table.ids.tolist() == IDS[2:]
    assert table.n_dropped == 2


# --- what cannot be used -------------------------------------------------------------------------


def _with(row, column, value):
    rows = VECTORS.astype(np.float64)
    rows[row, column] = value
    return rows


REJECTED = {
    "nan": (".npy", _with(7, 3, np.nan), IDS, messages.NO_NUMBER),
    "inf": (".parquet", _with(7, 3, np.inf), IDS, messages.INFINITE),
    "large": (".npy", _with(7, 3, 1e200), IDS, messages.TOO_LARGE_NUMBER),
    "long": (".npy", vectors(52), IDS, messages.WRONG_LENGTH),
    "vector": (".npy", VECTORS[0], IDS, messages.ONE_DIMENSION),
    "empty": (".npy", VECTORS[:0], IDS, messages.NO_VECTORS),
    "complex": (".npy", VECTORS.astype(np.complex64), IDS, messages.COMPLEX),
    "equal": (".npy", np.ones((N, 8)), IDS, messages.EQUAL_VECTORS),
    "others": (".parquet", VECTORS, [f"x{j}" for j in range(N)], messages.NO_KEY),
    "repeated": (".csv", VECTORS, [IDS[0], *IDS[:-1]], messages.REPEATED_KEY),
}


@pytest.mark.parametrize("case", REJECTED)
def test_unusable_embeddings_are_rejected(fish, tmp_path, case):
    ending, rows, keys, message = REJECTED[case]
    path = saved(tmp_path / f"clip{ending}", rows, keys)
    with pytest.raises(InputError) as rejected:
        opened(fish, path)
    assert str(rejected.value) == message.format(path=path, fish=fish)


def test_objects_are_not_unpickled(fish, tmp_path):
    np.save(tmp_path / "clip.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError):
        opened(fish, tmp_path / "clip.npy")


def test_lists_of_different_lengths_are_rejected(fish, tmp_path):
    lists = [[1.0, 2.0]] * (N - 1) + [[1.0]]
    path = tmp_path / "lists.parquet"
    pa.parquet.write_table(pa.table({"fish": IDS, "vector": lists}), path)
    with pytest.raises(InputError) as rejected:
        opened(fish, path)
    assert str(rejected.value) == messages.DIFFERENT_LENGTHS.format(path=path)


def test_texts_are_no_embeddings(fish, tmp_path):
    path = tmp_path / "texts.csv"
    pd.DataFrame({"fish": IDS, "note": "?"}).to_csv(path, index=False)
    with pytest.raises(InputError) as rejected:
        opened(fish, path)
    assert str(rejected.value) == messages.NO_EMBEDDINGS_IN_IT.format(path=path)


def test_specimens_have_no_embeddings(tmp_path):
    path = tmp_path / "fish.tps"
    path.write_text("LP=3\n0 0\n1 0\n0 1\nID=a\n")
    with pytest.raises(InputError) as rejected:
        open_discovery_data(path, embeddings="clip.npy")
    assert str(rejected.value) == messages.SPECIMENS_HAVE_NO_EMBEDDINGS.format(path=path)


def test_new_rows_have_vectors_of_the_same_length(fish, tmp_path):
    known = opened(fish, saved(tmp_path / "clip.npy")).table
    path = saved(tmp_path / "dino.npy", vectors(N, 32))
    with pytest.raises(InputError) as rejected:
        opened(fish, path, reader=known.reader)
    assert str(rejected.value) == messages.OTHER_LENGTH.format(path=path)
