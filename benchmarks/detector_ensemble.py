"""The detector ensemble on tables that had no say in it, beside its members and peers.

The split, written down before the first run
--------------------------------------------
Choosing (may be looked at as often as one likes):

- novelty tables at even places (0, 2, 4, ...) of ``novelty_tables/index.csv``;
- outlier tables at even places of ``outlier_tables/index.csv``;
- tables made from scikit-learn's bundled data sets and generators.

Confirming (looked at once, when everything is chosen, and reported with intervals):

- novelty tables at odd places of ``novelty_tables/index.csv``;
- outlier tables at odd places of ``outlier_tables/index.csv``;
- mammography, shuttle, ann_thyroid and kdd_u2r.

Measures: mean area under the ROC curve and mean average precision over tables, with bootstrap
intervals over tables for differences to the distance to the nearest neighbour.
"""
