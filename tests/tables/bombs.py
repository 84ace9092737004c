"""Small files that stand for huge tables, one function each; and damaged copies of good files."""

import gzip
import io
import random
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet


def gzip_of_zeros(path):
    """Write 3 MB that unpack to 3 GB of cells, as 300 packed pieces one after the other."""
    path = path.with_suffix(".csv.gz")
    piece = gzip.compress(b"0,0\n" * 2_500_000)
    path.write_bytes(gzip.compress(b"a,b\n") + 300 * piece)
    return path


def gzip_of_one_line(path):
    path = path.with_suffix(".tsv.gz")
    path.write_bytes(40 * gzip.compress(b"a" * 10**7))
    return path


def repeated_numbers(path):
    """Write one number twenty million times: run lengths take no space."""
    path = path.with_suffix(".parquet")
    rows = pa.table({name: np.zeros(2_500_000) for name in "abcdefgh"})
    pyarrow.parquet.write_table(rows, path, compression="zstd")
    return path


def repeated_text(path):
    path = path.with_suffix(".parquet")
    codes = pa.array(np.zeros(300_000, np.int32))
    text = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 1_000_000]))
    pyarrow.parquet.write_table(pa.table({"a": text}), path, compression="zstd")
    return path


def repeated_plain_text(path):
    """Write text that is stored as a dictionary, though it is none in memory."""
    path = path.with_suffix(".parquet")
    texts = pa.array(["x" * 100_000] * 2000)
    pyarrow.parquet.write_table(pa.table({"a": texts}), path, compression="zstd")
    return path


def repeated_fixed_lengths(path):
    """Write 300 values of a million bytes, all of one entry of a dictionary."""
    path = path.with_suffix(".parquet")
    values = pa.array([bytes(10**6)] * 300, pa.binary(10**6))
    pyarrow.parquet.write_table(pa.table({"a": values}), path, compression="zstd")
    return path


def packed_text(path):
    """Write long texts without a dictionary: each page is small, and all of them are not."""
    path = path.with_suffix(".parquet")
    rows = pa.table({"a": ["x" * 10**6] * 300})
    pyarrow.parquet.write_table(
        rows, path, compression="zstd", use_dictionary=False, write_statistics=False
    )
    return path


def repeated_codes_of_fixed_lengths(path):
    path = path.with_suffix(".arrow")
    values = pa.array([bytes(10**6)], pa.binary(10**6))
    codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1000, np.int8)), values)
    pyarrow.feather.write_feather(pa.table({"a": codes}), path, compression="zstd")
    return path


def long_pages(path):
    path = path.with_suffix(".parquet")
    rows = pa.table({"a": np.zeros(20_000_000)})
    pyarrow.parquet.write_table(
        rows, path, compression="gzip", use_dictionary=False, data_page_size=2**30
    )
    return path


def shared_prefixes(path):
    path = path.with_suffix(".parquet")
    rows = pa.table({"a": ["x" * length for length in range(20_000)]})
    pyarrow.parquet.write_table(
        rows, path, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"}
    )
    return path


def nested_lists(path):
    path = path.with_suffix(".parquet")
    rows = pa.table({"a": [["x" * 10_000] * 10_000]})
    pyarrow.parquet.write_table(rows, path, compression="zstd")
    return path


def many_columns_of_parquet(path):
    path = path.with_suffix(".parquet")
    rows = pa.table({f"c{j}": [0] for j in range(20_000)})
    pyarrow.parquet.write_table(rows, path, compression="zstd", write_statistics=False)
    return path


def packed_batches(path):
    path = path.with_suffix(".arrow")
    rows = pa.table({name: np.zeros(5_000_000) for name in "abcd"})
    pyarrow.feather.write_feather(rows, path, compression="zstd")
    return path


def rows_of_nothing(path):
    """Write rows without values, which take no space at all."""
    path = path.with_suffix(".arrow")
    rows = pa.table({"a": pa.nulls(2_000_000_000)})
    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_stream(stream, rows.schema) as writer:
        writer.write_table(rows)
    return path


def repeated_codes(path):
    path = path.with_suffix(".arrow")
    codes = pa.array(np.zeros(1_000_000, np.int8))
    text = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 100_000]))
    pyarrow.feather.write_feather(pa.table({"a": text}), path, compression="zstd")
    return path


def repeated_views(path):
    path = path.with_suffix(".arrow")
    view = np.array([100_000, 0, 0, 0], np.int32).tobytes()  # length, beginning, buffer, place
    buffers = [
        None,
        pa.py_buffer(100_000 * (view[:4] + b"xxxx" + view[8:])),
        pa.py_buffer(100_000 * b"x"),
    ]
    rows = pa.table({"a": pa.Array.from_buffers(pa.string_view(), 100_000, buffers)})
    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, rows.schema) as writer:
        writer.write_table(rows)
    return path


def zeros_in_an_archive(path):
    """Write 0.2 MB that unpack to 240 MB."""
    path = path.with_suffix(".npz")
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("X.npy", "w", force_zip64=True) as stream,
    ):
        header = {"descr": "<f8", "fortran_order": False, "shape": (3_000_000, 10)}
        np.lib.format.write_array_header_1_0(stream, header)
        for _ in range(24):
            stream.write(bytes(10**7))
    return path


def _array_of(path, shape, descr="<f8", content=b""):
    path = path.with_suffix(".npy")
    with path.open("wb") as stream:
        header = {"descr": descr, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(content)
    return path


def a_claim_of_terabytes(path):
    return _array_of(path, (10**9, 1000), content=bytes(8000))


def columns_of_nothing(path):
    return _array_of(path, (0, 10**9))


def rows_without_columns(path):
    return _array_of(path, (10**9, 0))


def long_texts(path):
    return _array_of(path, (1, 1), f"<U{5 * 10**8}", bytes(1000))


def long_ids(path):
    """Write ids of 19,000 bytes, which are 76,000 as letters."""
    path = path.with_suffix(".npz")
    np.savez_compressed(path, X=np.zeros((1000, 2)), ids=np.full(1000, b"a" * 19_000))
    return path


def long_labels(path):
    path = path.with_suffix(".npz")
    np.savez_compressed(path, X=np.zeros((1000, 2)), y=np.full(1000, "\N{GRINNING FACE}" * 8_000))
    return path


def many_small_columns(path):
    path = path.with_suffix(".npz")
    np.savez_compressed(path, X=np.zeros((1, 5_000_000), np.int8))
    return path


def many_entries(path):
    path = path.with_suffix(".npz")
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(20_000):
            archive.writestr(str(number), b"")
    return path


def many_columns(path):
    path = path.with_suffix(".csv")
    path.write_text(",".join(f"c{j}" for j in range(1_000_000)) + "\n" + "1," * 999_999 + "1\n")
    return path


def many_text_columns(path):
    path = path.with_suffix(".csv")
    header = ",".join(f"c{j}" for j in range(3_000))
    path.write_text(header + "\n" + (",".join(["1111-T"] * 3_000) + "\n") * 5)
    return path


def many_columns_of_short_texts(path):
    path = path.with_suffix(".csv")
    header = ",".join(f"c{j}" for j in range(13_000))
    path.write_text(header + "\n" + (",".join(["1111-T"] * 13_000) + "\n") * 5)
    return path


def empty_cells(path):
    path = path.with_suffix(".csv")
    path.write_text("," * 99 + "\n" + ("," * 99 + "\n") * 200_000)
    return path


def many_short_rows(path):
    path = path.with_suffix(".csv")
    path.write_text("a\n" + "1\n" * 10_000_000)
    return path


def many_quotes(path):
    path = path.with_suffix(".csv")
    path.write_text("a,b\n" + '"' * 20_000_001)
    return path


def one_long_line(path):
    path = path.with_suffix(".txt")
    path.write_text("a" * 50_000_000)
    return path


def wide_letters(path):
    """Write characters that take four bytes each in memory."""
    path = path.with_suffix(".csv")
    path.write_text("a\n" + ("\N{GRINNING FACE}" * 10 + "\n") * 400_000, encoding="utf-8")
    return path


# The first 17 are quick to write.
BOMBS = [
    long_ids, long_labels, many_columns_of_short_texts,
    repeated_fixed_lengths, packed_text, repeated_codes_of_fixed_lengths,
    gzip_of_zeros, repeated_numbers, zeros_in_an_archive, rows_of_nothing, repeated_codes,
    a_claim_of_terabytes, columns_of_nothing, rows_without_columns, many_small_columns,
    repeated_text, many_columns, gzip_of_one_line, repeated_plain_text, long_pages, shared_prefixes,
    nested_lists, many_columns_of_parquet, packed_batches, repeated_views, long_texts, many_entries,
    many_text_columns, empty_cells, many_short_rows, many_quotes, one_long_line, wide_letters,
]  # fmt: skip


# --- damaged files ------------------------------------------------------------------------------


def _fish(n_rows):
    random_state = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "fish": [f"f{row}" for row in range(n_rows)],
            "length": random_state.normal(10, 2, n_rows).round(3),
            "rings": random_state.integers(0, 20, n_rows),
            "sex": random_state.choice(["f", "m", "?"], n_rows),
        }
    )


def _bytes_of(write, *values, **options):
    buffer = io.BytesIO()
    write(buffer, *values, **options)
    return buffer.getvalue()


def good_files():
    """Return good files by their ending, of a few rows and of many."""
    files = {}
    for n_rows in (5, 2_000):
        fish = _fish(n_rows)
        numbers = fish[["length", "rings"]].to_numpy()
        text = fish.to_csv(index=False).encode()
        files |= {
            f"{n_rows}.csv": text,
            f"{n_rows}.tsv": fish.to_csv(index=False, sep="\t").encode(),
            f"{n_rows}.csv.gz": gzip.compress(text, mtime=0),
            f"{n_rows}.parquet": _bytes_of(fish.to_parquet),
            f"{n_rows}.zstd.parquet": _bytes_of(fish.to_parquet, compression="zstd"),
            f"{n_rows}.arrow": _bytes_of(fish.to_feather),
            f"{n_rows}.zstd.feather": _bytes_of(fish.to_feather, compression="zstd"),
            f"{n_rows}.npy": _bytes_of(np.save, numbers),
            f"{n_rows}.npz": _bytes_of(np.savez_compressed, X=numbers, ids=list(fish["fish"])),
        }
    return files


def damaged(content, seed):
    """Return a copy with bytes changed, cut out, repeated or moved."""
    choose = random.Random(seed)
    content = bytearray(content)
    for _ in range(choose.choice([1, 1, 2, 5, 20])):
        _DAMAGES[choose.randrange(len(_DAMAGES))](content, choose)
    return bytes(content)


def _place(content, choose):
    # Headers and footers decide on sizes.
    edge = min(len(content), 400)
    start = choose.choice([0, len(content) - edge, choose.randrange(len(content) + 1)])
    return min(start + choose.randrange(edge + 1), len(content))


def _change(content, choose):
    at = _place(content, choose)
    content[at : at + 1] = bytes([choose.randrange(256)])


def _enlarge(content, choose):
    """Put a large number, as headers store them, over some bytes."""
    at, width = _place(content, choose), choose.choice([2, 4, 8])
    number = choose.choice([2 ** (8 * width) - 1, 2 ** (8 * width - 1) - 1, 2 ** (4 * width)])
    content[at : at + width] = number.to_bytes(width, choose.choice(["little", "big"]))


def _enlarge_digits(content, choose):
    at = _place(content, choose)
    content[at:at] = b"9" * choose.choice([1, 3, 9, 400])


def _cut(content, choose):
    at = _place(content, choose)
    del content[at : at + choose.choice([1, 4, 100])]


def _truncate(content, choose):
    del content[_place(content, choose) + 1 :]


def _repeat(content, choose):
    at = _place(content, choose)
    piece = content[at : at + choose.choice([1, 4, 64])]
    content[at:at] = piece * choose.choice([1, 10, 10_000])


_DAMAGES = [_change, _change, _enlarge, _enlarge_digits, _cut, _truncate, _repeat]
