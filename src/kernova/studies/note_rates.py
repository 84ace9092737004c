"""What a recording's sample rate leaves out of what a model knows."""

from kernova.load.audio import AudioInfo


def missing_treble(info: AudioInfo, model_rate: float) -> str:
    """Say that a recording lacks high sounds that the model listens to; empty if it does not.

    Parameters
    ----------
    info : AudioInfo
        The recording.
    model_rate : float
        Samples per second at which the model listens.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernova.load.audio import AudioInfo
    >>> from kernova.studies.note_rates import missing_treble
    >>> missing_treble(AudioInfo(Path("a.wav"), 44100, 1, 9, 1.0), 32000)
    ''
    >>> print(missing_treble(AudioInfo(Path("a.wav"), 8000, 1, 9, 1.0), 32000))
    a.wav holds nothing above 4 kHz (8000 samples per second), and the model listens up to 11 kHz:
    notes may be missed.
    """
    if info.sample_rate >= model_rate:
        return ""
    from kernova.represent.frames import SONG_BANDS  # brings scipy.signal

    held, heard = info.sample_rate / 2, min(model_rate / 2, SONG_BANDS.high_hz)
    if held >= heard:
        return ""
    return (
        f"{info.path} holds nothing above {held / 1000:.4g} kHz ({info.sample_rate} samples per "
        f"second), and the model listens up to {heard / 1000:.4g} kHz: notes may be missed."
    )
