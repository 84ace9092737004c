"""Multiclass data description (MDD-KM) on bird notes: Kalantari, Principe and Sieving."""

from kernova.papers.mddkm_notes.reproduction import NoteReproduction, reproduce_mddkm_notes

__all__ = ["NoteReproduction", "reproduce_mddkm_notes"]
