"""Messages and notes on specimens: a change of wording is a change here."""

ODD_COLUMNS = (
    "Rows of 11 columns are not two or more landmarks of 3 coordinates each (n_features=11). Give "
    "rows [x1 y1 x2 y2 ...], or another number of dimensions."
)

# --- notes; {} is the file -----------------------------------------------------------------------

ALIGNED = (
    "{} holds 6 landmarks in two dimensions: specimens are aligned (position, size and rotation "
    "removed; size=True adds the size as a column), and 12 tangent coordinates are compared, of "
    "which 8 are independent."
)
ALIGNED_TABLE = (
    "{} holds 6 landmarks in two dimensions (x1, y1 … x6, y6): specimens are aligned (position, "
    "size and rotation removed; size=True adds the size as a column), and 12 tangent coordinates "
    "are compared, of which 8 are independent. Use raw_coordinates=True to compare the coordinates "
    "as they are."
)
ALIGNED_SOLIDS = (
    "{} holds 6 landmarks in three dimensions: specimens are aligned (position, size and rotation "
    "removed; size=True adds the size as a column), and 18 tangent coordinates are compared, of "
    "which 11 are independent."
)
GUESSED = (
    "The 12 numbers of a specimen of {} were read as 6 landmarks in the plane. If they are 4 in "
    "space, pass dimensions=3."
)
LOOK_LIKE_LANDMARKS = (
    "Columns such as p1X and p1Y look like landmarks, but there is no x of landmark 3; they are "
    "compared as they are."
)
NO_HEADER = "The first line of fish.txt holds values instead of the names of columns: 'carp_000', "
ONE_ESTIMATED = (
    "1 of 35 landmarks of fish.tps is missing, in 1 of 5 specimens; each is estimated from the "
    "others."
)
CODE_OF_MISSING = (
    "Landmark 4 of '{}' of {} is (-999, -999), as a missing one may be written. Write NA for each "
    "of its coordinates, or pass negative='missing'."
)
OTHER_DIMENSION = (
    "fish.tps says itself that its landmarks have 2 coordinates each. Leave out `dimensions`."
)
SIZES_OF_THE_FILE = (
    "{} holds 6 landmarks in two dimensions: specimens are aligned (position, size and rotation "
    "removed; the log of centroid size, in the unit of the file, is one more column), and 12 "
    "tangent coordinates are compared, of which 8 are independent."
)
SIZES_IN_REAL_UNITS = SIZES_OF_THE_FILE.replace("in the unit of the file", "{real}").format(
    "{}", real="in real units, by the scales"
)
NOT_COMPARED = "Other columns of {} are not compared: 'depth', 'museum'."
ONE_NOT_COMPARED = "Another column of {} is not compared: 'pond'."
ESTIMATED = (
    "9 of 360 landmarks of {} are missing, in 9 of 60 specimens; each is estimated from the others."
)
LIKE_TRAINING = "Specimens of {} are aligned to the consensus of the training specimens."
SCALES_UNUSED = (
    "The scales of {} are not used, since the known specimens have none: sizes are compared in the "
    "unit of the file."
)

# --- messages ------------------------------------------------------------------------------------

# By the reason why a file cannot be read; all are found in learning, outliers and novelty alike.
BAD_FILES = {
    "half a landmark": (
        "Specimen 'carp_004' of fish.csv has only some of the columns 'x3', 'y3' of landmark 3; "
        "fill in all of them or none."
    ),
    "text": (
        "Column 'x3' of fish.csv is a coordinate of a landmark, but holds 'high' for specimen "
        "'carp_004'. Correct it, or pass raw_coordinates=True to compare the columns as they are."
    ),
    "infinite": (
        "Column 'x3' of fish.csv holds an infinite number in row 5; correct it or drop the column."
    ),
    "never seen": "Landmark 3 is missing in every specimen of fish.csv. Leave it out.",
    "one point": (
        "Specimen 'pike_005' of fish.csv has no shape: it has fewer than 2 landmarks, or all of "
        "them coincide. Leave it out."
    ),
    "no landmark": (
        "Specimen 'pike_005' of fish.csv has no shape: it has fewer than 2 landmarks, or all of "
        "them coincide. Leave it out."
    ),
    "tiny": (
        "The largest coordinate is {largest}; alignment takes 1e-300 to 1e+300. Give the "
        "coordinates in another unit, or correct it."
    ),
    "two landmarks": (
        "The specimens of fish.tps have 2 landmarks each; to compare shapes takes at least 3."
    ),
    "broken": (
        "Line 3 of fish.tps (specimen 1): expected the 2 numbers of point 2 of 3 under LM=, got "
        "'ID=a'; correct it or the number of points."
    ),
}
# By what is said about the columns.
BAD_ROLES = {
    "a coordinate as label": (
        "'x3' is a coordinate of a landmark of {}, and alignment needs all of them. Name another "
        "column, or pass raw_coordinates=True to compare the coordinates as they are."
    ),
    "a coordinate to drop": (
        "'y2' is a coordinate of a landmark of {}, and alignment needs all of them. Name another "
        "column, or pass raw_coordinates=True to compare the coordinates as they are."
    ),
    "a column to keep": (
        "{} holds landmarks, of which only the shapes are compared; got keep='depth'. Leave it "
        "out, or pass raw_coordinates=True to compare all columns as they are."
    ),
    "no such group": (
        "{} has no column 'pond' to use as group column. Its columns are 'id', 'species', 'depth', "
        "'x1', 'y1', 'x2', 'y2', 'x3', 'y3', 'x4', 'y4', 'x5', 'y5', 'x6', 'y6'."
    ),
    "no labels": (
        "{} has no labels, so there are no classes to learn. Name the column that holds them with "
        "label_column; or give `labels`, a table by id, or id_pattern."
    ),
    "size of raw coordinates": (
        "`size` is for specimens that are aligned, but {} is taken as a table of features: its "
        "coordinates are compared as they are. Leave it out."
    ),
    "labels beside raw coordinates": (
        "`labels` is for specimens that are aligned, but {} is taken as a table of features: its "
        "coordinates are compared as they are. Leave it out."
    ),
    "column and pattern": (
        "Labels come either from a column or from a pattern in the ids. Use `id_pattern` without "
        "`labels` and `label_column`, or leave it out."
    ),
    "labels without a column": (
        "The column of labels in species.csv is not named; set label_column."
    ),
    "another column of labels": (
        "species.csv has no column 'genus' to use as label column. Its columns are 'id', 'species'."
    ),
    "pattern": (
        "The pattern '(' is not a regular expression: missing ), unterminated subpattern at "
        "position 0; correct it."
    ),
}
BAD_ROLES_OF_TPS = {
    "label": "{} has no column 'species' to use as label column. It has landmarks only.",
    "drop": "{} has no column 'depth' to drop. It has landmarks only.",
    "keep": (
        "{} holds landmarks, of which only the shapes are compared; got keep='depth'. Leave it out."
    ),
    "id": "{} holds the ids of its specimens itself, and no column 'fish'. Leave id_column out.",
    "raw coordinates": (
        "{} holds specimens, which are compared after alignment only; raw_coordinates=True is for "
        "tables. Leave it out."
    ),
}
UNLABELLED = (
    "2 of 60 specimens have no entry in column 'species' of species.csv: 'carp_000', 'pike_001'; "
    "give them a label, or leave them out."
)
NO_SIZE_OF_TABLES = (
    "`size` is for specimens that are aligned, but {} is taken as a table of features: it holds no "
    "landmarks. Leave it out."
)
LACKING = (
    "9 specimens lack landmarks in {}: 'carp_000', 'pike_007', 'carp_014', 'pike_021', "
    "'carp_028', 'pike_035', 'carp_042', 'pike_049', 'carp_056'. Estimate them with "
    "missing='auto', or drop such specimens with missing='drop'."
)
ALL_LACKING = (
    "Every specimen of {} lacks landmarks; none is left. Estimate them with missing='auto'."
)
NO_SCALES = (
    "2 of 60 specimens of {} have no scale, so that sizes cannot be compared: 'carp_000', "
    "'pike_001'. Add SCALE= to each."
)
ONE_SCALE = (
    "1 of 13 specimens of {} has no scale, so that its size cannot be compared: 'carp_n0'. Add "
    "SCALE= to each."
)
OTHER_LAYOUT = (
    "{} holds 5 landmarks in two dimensions, but {} 6 landmarks in two dimensions; digitise the "
    "same landmarks in the same order."
)
NO_LANDMARKS = (
    "{} holds no landmarks: it needs columns x1, y1, x2, y2, x3, y3 and so on, all of them from 1 "
    "to the last. Its columns are 'id', 'species'."
)
A_COORDINATE_NOW = (
    "'x1' is a coordinate of a landmark of {}, and alignment needs all of them. Name another "
    "column."
)
LANDMARKS_FOR_A_TABLE = (
    "{} holds landmarks of specimens, but {} is a table of features. Name a file like it."
)
TPS_FOR_A_TABLE = (
    "{} holds landmarks, but the model was learnt from a table of features. Name a file like the "
    "one it was learnt from."
)
LABELS_FOR_A_TABLE = (
    "`{}` is for models of landmarks, pictures or embeddings. Name the column of {} that holds the "
    "classes with label_column."
)
