"""Anomaly detectors: spatial depth (KSD) and local outlier factors (RKOF, LDF, LPF).

Scores are high for inliers, as in scikit-learn.
"""
