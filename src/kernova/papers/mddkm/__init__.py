"""Multiclass data description (MDD-KM) on tables: Kalantari, Principe and Sieving."""

from kernova.papers.mddkm.reproduction import MddkmReproduction, reproduce_mddkm

__all__ = ["MddkmReproduction", "reproduce_mddkm"]
