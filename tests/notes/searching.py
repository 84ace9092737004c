"""Songs with loud notes, searched into a folder of results."""

from pathlib import Path

from kernova.notes.search import SearchSettings, recordings_in, search_recordings
from tests.notes.loud_finder import LoudFinder, write_song

CSV = SearchSettings(format="csv")
NOTES = ((0.25, 0.5, "high"), (0.625, 0.75, "low"))


def write_songs(folder):
    """Write three recordings of the same notes; return their folder."""
    for name in ("a", "b", "c"):
        write_song(folder / f"{name}.wav", *NOTES)
    return folder


def search(paths, folder, settings=CSV, finder=None, **options):
    finder = finder or LoudFinder()
    recordings = recordings_in([paths] if isinstance(paths, Path) else paths)
    return list(search_recordings(finder, recordings, folder, settings, **options))


def outcomes(results):
    return {result.path.name: result.outcome for result in results}


def contents(folder):
    files = (path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
