"""Note finder: detection of every further instance of known notes in long recordings."""

from collections.abc import Iterable, Iterator, Sequence
from math import gcd
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import resample_poly
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernova._sklearn import Interval, StrOptions
from kernova.audio.annotations.segments import Segment, check_segments
from kernova.audio.frames import PAPER_FRAMING
from kernova.audio.reading import (
    CHUNK_SECONDS,
    Audio,
    Channel,
    Chunk,
    audio_blocks,
    audio_info,
    chunks,
    read_audio,
)
from kernova.errors import InputError, quoted
from kernova.notes.engines import Detections, fit_engine
from kernova.progress import track
from kernova.typing import Samples

Recording = str | Path | Audio


class NoteScan(NamedTuple):
    """Levels, scores and notes of an interval of a recording, for plots."""

    times: NDArray[np.float64]  # in seconds, from the start of the recording; shape (n_frames,)
    levels: NDArray[np.float64]  # logarithm of the power of each band; shape (n_frames, n_bands)
    band_hz: NDArray[np.float64]  # centre frequency of each band; shape (n_bands,)
    scores: NDArray[np.float64]  # score of each frame for each class; shape (n_frames, n_classes)
    classes: NDArray[Any]
    segments: list[Segment]


class NoteFinder(BaseEstimator):
    """Find all notes of known classes in recordings, learnt from a few examples of each.

    Notes are segmented and classified in one step. Unknown notes and noise are not reported. Times
    are in seconds.

    Parameters
    ----------
    preset : {"song", "paper"}, default="song"
        "song" describes whole notes in frequency bands, scores every interval of a recording, and
        verifies that the detections belong to their class. "paper" is the published pipeline:
        frames, the top layer of a hierarchical linear dynamical system (HLDS), data description
        (MDD-KM), and a decision in six steps.
    method : {"mddkm", "pknn"}, default="mddkm"
        Scorer of frames or notes: :class:`~kernova.MulticlassDataDescription` or
        :class:`~kernova.PossibilisticNeighbors`.
    decoder : {"auto", "six-steps", "viterbi"}, default="auto"
        For the preset "paper": the published six steps ("auto"), or a Viterbi search, which
        separates notes that follow each other without a gap. The preset "song" always does so.
    threshold : float or None, default=None
        Smallest score of a note. With None it is set from the recording itself ("song") or from
        the training notes by leave-one-out ("paper").
    channel : int or "mean", default="mean"
        Channel of a file to use, counted from 1, or the mean of all.

    Attributes
    ----------
    classes_ : array of str
    sample_rate_ : int
        Recordings of another rate are resampled to this one.
    n_notes_ : array of int
        Number of examples of each class.

    References
    ----------
    Kalantari, Principe and Sieving, "Uncertainty quantification for multiclass data description".

    Examples
    --------
    >>> import numpy as np
    >>> from kernova import Audio, NoteFinder
    >>> t = np.arange(2400) / 32000
    >>> rng = np.random.default_rng(0)
    >>> def chirp(rise):
    ...     return np.sin(2 * np.pi * (3000 + rise * t) * t) * np.hanning(len(t))
    >>> up, down = chirp(20000), chirp(-12000)
    >>> song = rng.normal(0, 0.001, 64000)
    >>> song[16000:18400] += up
    >>> finder = NoteFinder().fit([Audio(up, 32000), Audio(down, 32000)], ["up", "down"])
    >>> [(note.label, round(note.start, 2)) for note in finder.find(Audio(song, 32000))]
    [('up', 0.5)]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "preset": [StrOptions({"song", "paper"})],
        "method": [StrOptions({"mddkm", "pknn"})],
        "decoder": [StrOptions({"auto", "six-steps", "viterbi"})],
        "threshold": [None, Interval(Real, 0, None, closed="left")],
        "channel": [StrOptions({"mean"}), Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        preset: Literal["song", "paper"] = "song",
        method: Literal["mddkm", "pknn"] = "mddkm",
        decoder: Literal["auto", "six-steps", "viterbi"] = "auto",
        threshold: float | None = None,
        channel: Channel = "mean",
    ) -> None:
        self.preset = preset
        self.method = method
        self.decoder = decoder
        self.threshold = threshold
        self.channel = channel

    def fit(self, clips: Sequence[Recording], labels: Sequence[str] | ArrayLike) -> Self:
        """Learn notes from clips of one note each, cut at its onset and its end.

        Parameters
        ----------
        clips : sequence of Audio or path
        labels : sequence of str
            Class of each clip.
        """
        clips = list(clips)
        names = [str(label) for label in np.asarray(labels, dtype=object).ravel()]
        if len(clips) != len(names):
            raise InputError(
                f"There are {len(clips)} clips and {len(names)} labels; give one label for each."
            )
        if not clips:
            raise InputError("There are no notes to learn from; give at least one clip.")
        self._validate_params()
        rate = self._rate_of(clips)
        samples = [_clip_at(clip, rate, self.channel) for clip in clips]
        for clip, name, sound in zip(clips, names, samples, strict=True):
            _check_clip(sound, name, clip)
        return self._learn(samples, names, rate)

    def fit_recordings(self, recordings: Iterable[tuple[Recording, Sequence[Segment]]]) -> Self:
        """Learn notes from recordings with annotations.

        Parameters
        ----------
        recordings : iterable of (Audio or path, sequence of Segment)
        """
        self._validate_params()
        clips: list[Audio] = []
        names: list[str] = []
        for recording, segments in recordings:
            seconds = _seconds_of(recording)
            check_segments(segments, seconds, source=_name_of(recording), may_overlap=True)
            clips += [_cut(recording, one, self.channel) for one in segments]
            names += [one.label for one in segments]
        return self.fit(clips, names)

    def _rate_of(self, clips: Sequence[Recording]) -> int:
        if self.preset == "paper":
            return int(PAPER_FRAMING.sample_rate)
        # The lowest: frequencies that one clip does not hold cannot be compared.
        return min(_rate_of(clip) for clip in clips)

    def _learn(self, samples: list[Samples], names: list[str], rate: int) -> Self:
        self.classes_, codes = np.unique(np.array(names, dtype=object), return_inverse=True)
        self.classes_ = self.classes_.astype(str)
        self.n_notes_ = np.bincount(codes, minlength=len(self.classes_))
        self.sample_rate_ = rate
        self._engine = fit_engine(
            self.preset, self.method, self.decoder, samples, codes.astype(np.intp), rate
        )
        return self

    def find(self, recording: Recording) -> list[Segment]:
        """Find the known notes of a recording.

        Parameters
        ----------
        recording : Audio or path
            A file is read in blocks; memory does not grow with its length.

        Returns
        -------
        list of Segment
            In order of time. With the preset "song" the ``score`` lies between 0 and 1: the lower
            it is, the less the note, and similar notes in the recording, resemble the known ones
            of the class.
        """
        check_is_fitted(self)
        self._validate_params()
        found: list[Segment] = []
        for chunk in self._chunks(recording):
            detections = self._engine.detect(chunk.samples, self.threshold)
            found += self._own_segments(detections, chunk)
        return found

    def scan(self, recording: Recording, start: float = 0.0, end: float | None = None) -> NoteScan:
        """Return levels, scores and notes between two times.

        Only this interval is searched, whereas :meth:`find` searches the whole recording.
        """
        check_is_fitted(self)
        audio = _cut_out(recording, start, end, self.sample_rate_, self.channel)
        detections = self._engine.detect(audio.samples, self.threshold)
        whole = Chunk(audio.samples, 0, 0, len(audio.samples))
        segments = [
            one._replace(start=one.start + start, end=one.end + start)
            for one in self._own_segments(detections, whole)
        ]
        frames = np.arange(len(detections.levels), dtype=np.float64)
        times = start + (frames + 0.5) * detections.frame_seconds
        scores = self._engine.frame_scores(detections)
        return NoteScan(
            times, detections.levels, detections.band_hz, scores, self.classes_, segments
        )

    def _chunks(self, recording: Recording) -> Iterator[Chunk]:
        rate = self.sample_rate_
        if isinstance(recording, Audio):
            blocks: Iterable[Samples] = [_resampled(recording, rate).samples]
        else:
            blocks = audio_blocks(recording, sample_rate=rate, channel=self.channel)
        n_chunks = max(1, int(_seconds_of(recording) / CHUNK_SECONDS))
        found = chunks(blocks, rate)
        for _ in track(range(n_chunks), f"searching {_name_of(recording)}"):
            chunk = next(found, None)
            if chunk is not None:
                yield chunk
        yield from found

    def _own_segments(self, detections: Detections, chunk: Chunk) -> list[Segment]:
        """Return the notes whose middle lies in the chunk without its margins."""
        rate = self.sample_rate_
        from_start = chunk.offset / rate
        first, last = chunk.own_start / rate, chunk.own_stop / rate
        found = []
        for start, stop, code, score in detections.notes:
            begin = max(from_start + start, 0.0)
            end = min(from_start + stop, chunk.offset / rate + len(chunk.samples) / rate)
            if first <= (begin + end) / 2 < last and end > begin:
                found.append(
                    Segment(round(begin, 6), round(end, 6), str(self.classes_[code]), score)
                )
        return found


def _name_of(recording: Recording) -> str:
    return "the recording" if isinstance(recording, Audio) else str(recording)


def _rate_of(recording: Recording) -> int:
    if isinstance(recording, Audio):
        return recording.sample_rate
    return audio_info(recording).sample_rate


def _seconds_of(recording: Recording) -> float:
    return recording.seconds if isinstance(recording, Audio) else audio_info(recording).seconds


def _resampled(audio: Audio, rate: int) -> Audio:
    samples = np.asarray(audio.samples, dtype=np.float64)
    if audio.sample_rate == rate:
        return Audio(samples, rate)
    shared = gcd(audio.sample_rate, rate)
    return Audio(resample_poly(samples, rate // shared, audio.sample_rate // shared), rate)


def _clip_at(clip: Recording, rate: int, channel: Channel) -> Samples:
    if isinstance(clip, Audio):
        return _resampled(clip, rate).samples
    return read_audio(clip, sample_rate=rate, channel=channel).samples


def _cut(recording: Recording, segment: Segment, channel: Channel) -> Audio:
    if isinstance(recording, Audio):
        rate = recording.sample_rate
        return Audio(
            recording.samples[round(segment.start * rate) : round(segment.end * rate)], rate
        )
    return read_audio(recording, segment.start, segment.end, channel=channel)


def _cut_out(
    recording: Recording, start: float, end: float | None, rate: int, channel: Channel
) -> Audio:
    if isinstance(recording, Audio):
        end = recording.seconds if end is None else end
        return _resampled(_cut(recording, Segment(start, end, ""), channel), rate)
    return read_audio(recording, start, end, sample_rate=rate, channel=channel)


def _check_clip(samples: Samples, name: str, clip: Recording) -> None:
    where = "A clip" if isinstance(clip, Audio) else str(clip)
    if len(samples) == 0:
        raise InputError(
            f"{where} of {quoted(name)} holds no sound; leave it out, or annotate the note."
        )
    if not np.isfinite(samples).all():
        raise InputError(
            f"{where} of {quoted(name)} holds values that are NaN or infinite; leave it out."
        )
    if not np.any(samples):
        raise InputError(
            f"{where} of {quoted(name)} is silent; leave it out, or correct its annotation."
        )
