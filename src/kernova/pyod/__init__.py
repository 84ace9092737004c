"""PyOD's interface for kernova's and scikit-learn's detectors, and the way back.

PyOD's detectors turn the sign: high is strange, labels are 1 for outliers and 0 for the others,
and what ``fit`` found of its own rows is kept. :func:`as_pyod` gives a detector this face, so that
it takes part in PyOD's ensembles and tools; :func:`from_pyod` gives PyOD's detectors the face of
scikit-learn, so that they take part in pipelines and in :class:`~kernova.CalibratedDetector`.

Where PyOD is installed, what :func:`as_pyod` gives is an instance of its ``BaseDetector``, and has
that class's other methods too (``predict_with_rejection`` among them). Without PyOD it does
everything described here all the same: PyOD is no dependency.
"""

from kernova.pyod.inward import FromPyod, from_pyod
from kernova.pyod.outward import AsPyod, as_pyod

__all__ = ["AsPyod", "FromPyod", "as_pyod", "from_pyod"]
