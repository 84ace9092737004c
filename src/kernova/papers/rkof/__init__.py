"""Robust kernel outlier factor (RKOF): Gao, Hu, Zhang, Zhang and Wu, PAKDD 2011."""

from kernova.papers.rkof.reproduction import DATASETS, RkofReproduction, reproduce_rkof

__all__ = ["DATASETS", "RkofReproduction", "reproduce_rkof"]
