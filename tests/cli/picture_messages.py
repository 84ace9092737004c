"""Sentences that the command line prints about pictures without a table, and embeddings."""

EMBEDDINGS_NEEDED = (
    "kernova: The model was learnt from embeddings of 64 numbers; name those of the rows of "
    "more.csv with --embeddings."
)
NO_MEANING_FOR_PICTURES = (
    "kernova: --size has no meaning for photos, whose rows are compared by what they look or sound "
    "like. Leave it out."
)
NOT_PICTURES = (
    "kernova: --rotation-invariant is for a folder or ZIP archive of pictures without a table. "
    "Leave it out for fish.csv."
)
NO_LABELS_OF_PICTURES = (
    "kernova: photos has no labels, so there are no classes to learn. Name the column that holds "
    "them with --label-column; or give --labels, a table by id, or --id-pattern."
)
NOT_BOTH_PICTURES = (
    "kernova: photos and fish.csv must both be folders or ZIP archives of pictures, or both "
    "tables. Name two such."
)
NEW_EMBEDDINGS_ALONE = (
    "kernova: --new-embeddings stand for the new rows only if known ones have embeddings, too; "
    "name these with --embeddings."
)
MODEL_OF_PICTURES = (
    "kernova: The model was learnt from pictures, but fish.csv is not a folder or ZIP archive of "
    "them. Name one."
)
MODEL_WITHOUT_EMBEDDINGS = (
    "kernova: The model was not learnt from embeddings, so that it cannot judge by them. Leave out "
    "--embeddings, or learn the model again with them."
)
MODEL_OF_A_TABLE = (
    "kernova: more is a folder or an archive, but the model was learnt from a table. Name a table "
    "like it."
)
NOT_IN_PROJECT = "1 row of photos is not in the project; it is left out until photos is added."
NO_PILLOW = {
    "outliers": (
        "kernova: Pictures need Pillow, which is not installed: pip install 'kernova[web]'."
    ),
    "discover": (
        "kernova: kernova discover needs Pillow, which is not installed: pip install "
        "'kernova[web]'."
    ),
}
