"""A TPS file with every keyword, and the comparison of two readings."""

import numpy as np

SNAILS = """\
LM=3
4074.5 2088
NA NA
-3.25 1e2
CURVES=2
POINTS=2
1 2
3 4
POINTS=1
5 6
OUTLINES=1
POINTS=0
IMAGE=035_EXP_sxt_M.JPG
ID=snail 7
SCALE=0.5
COMMENT=broken = mended
COMMENT=
VARIABLES=OrigNum=7

LM=3
1 2
3 4
5 6
IMAGE=138_SHL_ltr_H.JPG
ID=008
SCALE=
"""


def check_snails(snails):
    assert snails.ids == ("snail 7", "008")
    expected = [[[4074.5, 2088], [np.nan] * 2, [-3.25, 100]], [[1, 2], [3, 4], [5, 6]]]
    np.testing.assert_array_equal(snails.coordinates, expected)
    np.testing.assert_array_equal(snails.scales, [0.5, np.nan])
    assert snails.images == ("035_EXP_sxt_M.JPG", "138_SHL_ltr_H.JPG")
    assert snails.variables == ("OrigNum=7", "")
    assert snails.comments == (("broken = mended", ""), ())
    curves = [[points.tolist() for points in lines] for lines in snails.curves]
    assert curves == [[[[1, 2], [3, 4]], [[5, 6]]], []]
    assert [[points.shape for points in lines] for lines in snails.outlines] == [[(0, 2)], []]
    np.testing.assert_array_equal(snails.is_missing, [[False, True, False], [False] * 3])


def assert_same(left, right):
    for name in ("ids", "images", "variables", "comments"):
        assert getattr(left, name) == getattr(right, name)
    for name in ("coordinates", "scales"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), strict=True)
    for name in ("curves", "outlines"):
        for some, others in zip(getattr(left, name), getattr(right, name), strict=True):
            for points, other in zip(some, others, strict=True):
                np.testing.assert_array_equal(points, other, strict=True)
