"""Good files of landmarks, annotations, sounds and pictures; damaged copies; and huge claims."""

import io
import random
import struct
import zipfile
import zlib
from collections import deque
from pathlib import Path

import numpy as np
import soundfile
from PIL import Image

from tests.audio.annotations.examples import LONG
from tests.shapes.tps_samples import SNAILS

RAVEN = (
    "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\t"
    "Annotation\tBegin File\tFile Offset (s)\n"
    "1\tSpectrogram 1\t1\t0.5\t0.75\t1500\t8000.5\ttrill\ta.wav\t0.5\n"
    "2\tWaveform 1\t1\t60.5\t61.25\t\t\tä λ\tb.wav\t0.5\n"
)
AUDACITY = "0.5\t0.75\ttrill\n\\\t1500\t8000.5\n2.0\t2.5\tä λ\n"
ANNOTATION = 'file,label,start,end,score\na.wav,"trill, long",0.5,0.75,0.9\nb.wav,ä λ,2,2.5,\n'
LANDMARKS = "id,tribe,x1,y1,x2,y2,x3,y3\n007,a,0,0,3,4,1.5,2\n008,b,1,0,3,5,NA,NA\n"
FEATURES = '[features]\nslenderness = "|1-2| / |1-3|"\nsnout = "angle(1-2, vertical)"\n'


def sound(format, subtype, n_channels=1):
    stream = io.BytesIO()
    samples = np.sin(np.arange(3000)[:, None] * np.arange(1, n_channels + 1) / 9) / 2
    soundfile.write(stream, samples, 8000, format=format, subtype=subtype)
    return stream.getvalue()


def picture(format, mode="RGB", size=(90, 60), **options):
    stream = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (*size[::-1], 3)).astype(np.uint8)
    Image.fromarray(noise).convert(mode).save(stream, format, **options)
    return stream.getvalue()


def flat_picture(format, mode, size, **options):
    stream = io.BytesIO()
    Image.new(mode, size).save(stream, format, **options)
    return stream.getvalue()


def archive(entries):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in entries.items():
            written.writestr(name, content)
    return stream.getvalue()


def good_files():
    """Return one file of each kind by name; the suffix chooses its reader."""
    texts = {
        "snails.tps": SNAILS,
        "long.TextGrid": LONG,
        "raven.txt": RAVEN,
        "audacity.txt": AUDACITY,
        "annotation.csv": ANNOTATION,
        "wide.landmarks.csv": LANDMARKS,
        "features.toml": FEATURES,
    }
    thumbnails = {"a.png": picture("PNG"), "b/b.jpg": picture("JPEG"), "c.txt": b"text"}
    return {name: text.encode() for name, text in texts.items()} | {
        "whole.wav": sound("WAV", "PCM_16"),
        "float.wav": sound("WAV", "FLOAT", 2),
        "packed.flac": sound("FLAC", "PCM_24"),
        "voice.ogg": sound("OGG", "VORBIS"),
        "old.aiff": sound("AIFF", "PCM_16"),
        "photo.png": picture("PNG"),
        "palette.png": picture("PNG", "P"),
        "photo.jpg": picture("JPEG"),
        "progressive.jpg": picture("JPEG", progressive=True),
        "photo.gif": picture("GIF"),
        "photo.webp": picture("WEBP"),
        "photo.tif": picture("TIFF", compression="tiff_deflate"),
        "deep.tif": picture("TIFF", "F"),
        "photo.bmp": picture("BMP"),
        "thumbnails.zip": archive(thumbnails),
    }


def large_pictures():
    """Return functions that write photos of 12 to 24 megapixels and masks of 48, by name."""
    photo = (6000, 4000)
    return {
        "photo.jpg": lambda: picture("JPEG", size=photo, quality=10),
        "progressive.jpg": lambda: picture("JPEG", size=photo, quality=10, progressive=True),
        "photo.png": lambda: picture("PNG", size=(5000, 4000), compress_level=1),
        "grey.tif": lambda: picture("TIFF", "L", size=photo),
        "photo.webp": lambda: picture("WEBP", size=(4000, 3000), quality=50, method=0),
        "mask.png": lambda: flat_picture("PNG", "1", (8000, 6000)),
        "mask.tif": lambda: flat_picture("TIFF", "1", (8000, 6000), compression="group4"),
    }


# --- reading -----------------------------------------------------------------------------------


def read(path):
    """Read a file as the commands do, by its suffix, and what it leads to."""
    from kernova.audio.annotations import read_annotations
    from kernova.audio.reading import AUDIO_SUFFIXES
    from kernova.shapes import read_landmark_table, read_tps
    from kernova.shapes.features import read_shape_features

    path = Path(path)
    if path.name.endswith(".landmarks.csv"):
        return read_landmark_table(path)
    if path.suffix in AUDIO_SUFFIXES:
        return _listen(path)
    if path.suffix == ".zip":
        return _look_into(path)
    readers = {
        ".tps": read_tps,
        ".toml": read_shape_features,
        **dict.fromkeys((".TextGrid", ".txt", ".csv"), read_annotations),
    }
    return readers.get(path.suffix, _look_at)(path)


def _listen(path):
    from kernova.audio.reading import audio_blocks, read_audio

    deque(audio_blocks(path), maxlen=0)
    return read_audio(path, sample_rate=11025)


def _look_at(path):
    from kernova.media.files import FolderFiles
    from kernova.media.pictures import reduced_picture

    return reduced_picture(
        FolderFiles(path.parent, [path.suffix]).content(path.name), path.name, 64
    )


def _look_into(path):
    from kernova.media.files import ZipFiles
    from kernova.media.pictures import PICTURE_SUFFIXES, reduced_picture

    files = ZipFiles(path, PICTURE_SUFFIXES)
    for name in files.names:
        reduced_picture(files.content(name), name, 64)
    return files


# --- damage ------------------------------------------------------------------------------------

_BYTES = b'0123456789.,-+eE=LM \t\n\r#"<!|\xe9\xff\0'
_WORDS = [
    *(b"1" * 5000, b"9" * 100_000, b"1e400", b"-1e-400", b"nan", b"-inf", b"Infinity", b"0x1F"),
    *(b"1_000", "\u0663\u0664".encode(), b"1." * 20_000, b"1" * 30_000 + b"x", b"0" * 5000 + b"1"),
    *(b" " * 50_000 + b"x", b'"' * 20_001, b"'" * 20_001, b"\n" * 100_000, b"\t" * 100_000),
    *("\u202e".encode(), "\u200b".encode(), "\u0301".encode() * 5000, b"\xed\xa0\x80", b"\x1b[2J"),
    *(b"(" * 20_000, b"[" * 20_000, b"<exists>", b"LM=999999\n", b"\r", b"\x00" * 100),
]
_EXTREMES = [0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 100_000, 2**24]


def damaged(content, seed):
    """Return a copy with one to three faults."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 3)):
        content = rng.choice(_WAYS)(content, rng) or b"\n"
    return content


def _cut(content, rng):
    return content[: rng.randrange(len(content))]


def _remove(content, rng):
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.randint(1, 40) :]


def _garble(content, rng):
    garbled = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        garbled[rng.randrange(len(garbled))] = rng.choice(_BYTES)
    return bytes(garbled)


def _flip(content, rng):
    flipped = bytearray(content)
    # Headers decide what is allocated.
    at = rng.randrange(min(len(flipped), 200) if rng.random() < 0.7 else len(flipped))
    flipped[at] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _extreme(content, rng):
    at = rng.randrange(min(len(content), 200))
    order, size = rng.choice("<>"), rng.choice("BHI")
    number = struct.pack(f"{order}{size}", rng.choice(_EXTREMES) % 256 ** struct.calcsize(size))
    return content[:at] + number + content[at + len(number) :]


def _insert(content, rng):
    at = rng.randrange(len(content))
    return content[:at] + rng.choice(_WORDS) + content[at:]


def _repeat(content, rng):
    start = rng.randrange(len(content))
    stop = min(len(content), start + rng.randint(1, 400))
    times = rng.choice([2, 50, 2000])
    return content[:stop] + content[start:stop] * times + content[stop:]


def _change_lines(content, rng):
    lines = content.split(b"\n")
    k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[k], lines[other] = lines[other], lines[k] + rng.choice([b"", b"\n", b"\t", b" 1"])
    return b"\n".join(lines)


def _join(content, rng):
    return content + rng.choice([content, bytes(1000), b"\xff" * 1000])


_WAYS = [_cut, _remove, _garble, _flip, _extreme, _insert, _repeat, _change_lines, _join]


# --- small files that stand for much -----------------------------------------------------------


def bombs():
    """Return functions by name that make files which promise much, or hold it very densely."""
    grid = (
        'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n10\n<exists>\n1\n'
        '"IntervalTier"\n"a"\n0\n10\n'
    )
    raven = RAVEN.partition("\n")[0]
    texts = {
        "tokens.TextGrid": grid + "9" * 9 + "\n" + '0 1 "" ' * 100_000,
        "lines.TextGrid": grid + "\n" * 3_000_000,
        "open.TextGrid": grid + '5\n0 1 "' + "a" * 3_000_000,
        "quotes.TextGrid": grid + "5\n0 1 " + '"' * 3_000_001,
        "dense.TextGrid": grid + "300000\n" + '0 1 "a"\n' * 300_000,
        "dense.txt": "0\t0\n" * 750_000,
        "tabs.txt": "0\t0\t" + "\t" * 3_000_000,
        "header.txt": raven + "\tab" * 1_000_000 + "\n1\t\t1\t0\t1\t\t\ta\n",
        "wide.txt": raven + "\t" * 1_000_000 + "\n" + "1\t\t1\t0\t1\t\t\ta\n" * 100_000,
        "dense.csv": "start,end,label\n" + "0,1,\n" * 600_000,
        "header.csv": "start,end,label" + ",ab" * 1_000_000 + "\n",
        "names.csv": "ab," * 1_000_000 + "\n",
        "field.csv": "start,end,label\n0,1," + "a" * 3_000_000 + "\n",
        "dense.tps": "LM=0\n" * 600_000,
        "points.tps": "LM=200000\n" + "1 2\n" * 200_000,
        "curves.tps": "LM=1\n1 2\nCURVES=100000\n" + "POINTS=0\n" * 100_000,
        "line.tps": "LM=1\n" + "1 " * 1_500_000,
        "keyword.tps": "LM=1\n1 2\na" + " " * 3_000_000 + "x\n",
        "features.toml": "".join(f'a{number} = ""\n' for number in range(9_000)),
        "nested.toml": "a = [\n" + "[\n" * 40_000,
        "dots.toml": "a." * 40_000 + "a = 1",
    }
    return {name: text.encode for name, text in texts.items()} | _binary_bombs()


def _binary_bombs():
    wide = (5000, 5000)
    return {
        "huge.png": _claim_of_pixels,
        "flat.png": lambda: flat_picture("PNG", "RGBA", wide),
        "grey.png": lambda: flat_picture("PNG", "LA", wide),
        "palette.png": lambda: flat_picture("PNG", "P", wide, transparency=0),
        "deep.tif": lambda: flat_picture("TIFF", "F", wide, compression="tiff_lzw"),
        "flat.webp": lambda: flat_picture("WEBP", "RGB", wide, method=0),
        "progressive.jpg": lambda: flat_picture(
            "JPEG", "RGB", wide, progressive=True, subsampling=0
        ),
        "promise.wav": _promise_in_a_header,
        "promise.flac": _promise_of_samples,
        "rate.wav": _odd_rate,
        "silence.flac": _packed_silence,
        "zeros.zip": lambda: archive({"a.png": bytes(60_000_000)}),
        "pictures.zip": lambda: archive({"a.png": flat_picture("PNG", "RGBA", wide)}),
    }


def _claim_of_pixels():
    huge = bytearray(picture("PNG"))
    huge[16:24] = struct.pack(">II", 100_000, 100_000)
    huge[29:33] = struct.pack(">I", zlib.crc32(huge[12:29]))
    return bytes(huge)


def _promise_in_a_header():
    wav = bytearray(sound("WAV", "PCM_16"))
    wav[4:8] = wav[40:44] = struct.pack("<I", 0xFFFFFF00)
    return bytes(wav)


def _promise_of_samples():
    flac = bytearray(sound("FLAC", "PCM_16"))
    flac[21] |= 0x0F  # the number of samples takes 36 bits
    flac[22:26] = b"\xff" * 4
    return bytes(flac)


def _odd_rate():
    """Return a sound whose rate has no simple ratio to others: the filter would be long."""
    stream = io.BytesIO()
    soundfile.write(stream, np.zeros(3000), 655_349, format="WAV")
    return stream.getvalue()


def _packed_silence():
    silence = io.BytesIO()
    soundfile.write(silence, np.zeros(12_000_000, np.int16), 8000, format="FLAC")
    return silence.getvalue()
