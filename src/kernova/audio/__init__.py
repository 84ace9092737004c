"""Sound: reading recordings, resampling, frames, linear dynamics (HLDS), annotations."""
