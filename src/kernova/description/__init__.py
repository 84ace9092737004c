"""Descriptions of known classes (MDD-KM, OCC-GP, PKNN) that reject rows of unknown classes."""
