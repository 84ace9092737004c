"""Messages of the package, whole."""

NO_ALGORITHM = (
    "There is no algorithm named 'ball_tree'. Use one of auto, kd_tree, brute, approximate."
)
NO_FAISS = (
    'algorithm="approximate" needs faiss, which is not installed. Install it with '
    'pip install "kernova[fast]", or take another algorithm.'
)
