"""Kernelized spatial depth (KSD): Chen, Bart, Dang and Peng, ICDM 2007."""

from kernova.papers.ksd.reproduction import KsdReproduction, reproduce_ksd

__all__ = ["KsdReproduction", "reproduce_ksd"]
