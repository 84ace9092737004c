"""Text read back from matplotlib axes."""


def legend_texts(ax):
    """Return the labels of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def texts_on(ax):
    """Return the texts that are written on the axes."""
    return [text.get_text() for text in ax.texts]
