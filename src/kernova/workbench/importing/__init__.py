"""Import of labels from a file: tables, Label Studio, COCO, Raven and TPS; previewed, then added.

Reading a file gives lines (:mod:`kernova.workbench.importing.lines`), whatever its format; what
they change in a project is worked out in :mod:`kernova.workbench.importing.matching`.
"""
