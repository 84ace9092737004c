"""What commands for tables say of files of landmarks."""

LANDMARKS_ALIGNED = (
    "{} holds 6 landmarks in two dimensions: specimens are aligned (position, size and rotation "
    "removed; --size adds the size as a column), and 12 tangent coordinates are compared, of which "
    "8 are independent."
)
LANDMARKS_OF_A_TABLE = (
    "{} holds 6 landmarks in two dimensions (x1, y1 … x6, y6): specimens are aligned (position, "
    "size and rotation removed; --size adds the size as a column), and 12 tangent coordinates are "
    "compared, of which 8 are independent. Use --raw-coordinates to compare the coordinates as "
    "they are."
)
LANDMARKS_WITH_SIZE = (
    "fish.tps holds 6 landmarks in two dimensions: specimens are aligned (position, size and "
    "rotation removed; the log of centroid size, in the unit of the file, is one more column), and "
    "12 tangent coordinates are compared, of which 8 are independent."
)
LIKE_TRAINING_SPECIMENS = "Specimens of {} are aligned to the consensus of the training specimens."
LANDMARK_TABLES = {
    "no labels": (
        "fish.tps has no labels, so there are no classes to learn. Name the column that holds them "
        "with --label-column; or give --labels, a table by id, or --id-pattern."
    ),
    "labels without a column": (
        "The column of labels in species.csv is not named; set --label-column."
    ),
    "column and pattern": (
        "Labels come either from a column or from a pattern in the ids. Use --id-pattern without "
        "--labels and --label-column, or leave it out."
    ),
    "raw coordinates of tps": (
        "fish.tps holds specimens, which are compared after alignment only; --raw-coordinates is "
        "for tables. Leave it out."
    ),
    "size of raw coordinates": (
        "--size is for specimens that are aligned, but fish.csv is taken as a table of features: "
        "its coordinates are compared as they are. Leave it out."
    ),
    "size of a table": (
        "--size is for specimens that are aligned, but species.csv is taken as a table of "
        "features: it holds no landmarks. Leave it out."
    ),
    "a column to keep": (
        "fish.csv holds landmarks, of which only the shapes are compared; got --keep depth. Leave "
        "it out, or pass --raw-coordinates to compare all columns as they are."
    ),
    "a coordinate to drop": (
        "'x3' is a coordinate of a landmark of fish.csv, and alignment needs all of them. Name "
        "another column, or pass --raw-coordinates to compare the coordinates as they are."
    ),
    "ids of tps": (
        "fish.tps holds the ids of its specimens itself, and no column 'fish'. Leave --id-column "
        "out."
    ),
    "missing landmarks": (
        "1 specimen lacks landmarks in gaps.tps: 'carp_000'. Estimate them with --missing auto, or "
        "drop such specimens with --missing drop."
    ),
    "other landmarks": (
        "five.tps holds 5 landmarks in two dimensions, but fish.tps holds 6 landmarks in two "
        "dimensions; digitise the same landmarks in the same order."
    ),
    "other landmarks than the model's": (
        "five.tps holds 5 landmarks in two dimensions, but the model was learnt from 6 landmarks "
        "in two dimensions; digitise the same landmarks in the same order."
    ),
    "landmarks for a table": (
        "fish.tps holds landmarks of specimens, but species.csv is a table of features. Name a "
        "file like it."
    ),
    "over its labels": (
        "Cannot write species.kernova: it is one of the tables to read. Name a file that can be "
        "written."
    ),
    "over the labels of new specimens": (
        "Cannot write species.csv: it is one of the tables to read. Name a file that can be "
        "written."
    ),
    "no file": "There is no file absent.tps; check its name and folder.",
    "broken file": (
        "Line 3 of broken.tps (specimen 1): expected the 2 numbers of point 2 of 3 under LM=, got "
        "'ID=a'; correct it or the number of points."
    ),
}
