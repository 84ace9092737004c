"""Ensemble of detectors: few fast members of different kinds, combined on one scale.

``columns`` prepares a table once, for all members; ``views`` has the scalings that members see;
``members`` compute a novelty each; ``scale`` makes these comparable; ``detector`` combines them.
"""
