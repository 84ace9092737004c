"""Formats of landmark files besides TPS: choosing a reader, reading and writing.

:mod:`~kernova.shapes.formats.reading` chooses by suffix and content between TPS, NTS, Morphologika,
rows of coordinates as in MorphoJ, and wide tables; :mod:`~kernova.shapes.formats.writing` chooses
by suffix between TPS, NTS, NEXUS and tables.
"""
