"""Hierarchical mean shift (HMS): Vatturi and Wong, KDD 2009."""

from kernova.papers.hms.reproduction import HmsReproduction, reproduce_hms

__all__ = ["HmsReproduction", "reproduce_hms"]
