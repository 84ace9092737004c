"""How the site is built: Sphinx with its own theme, and numpydoc for the docstrings."""

import re

from kernova import __version__

project = "kernova"
author = "The kernova developers"
project_copyright = "The kernova developers, BSD-3-Clause"
version = release = __version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "literal"

# One page for each public name; docs/_templates/autosummary says what is on it.
autosummary_generate = True
# The docstrings say the types in words; the signatures stay readable.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "alabaster"
html_theme_options = {
    "description": "Find what is new in data, with a proven bound on false alarms.",
    "fixed_sidebar": True,
    "page_width": "1080px",
    "sidebar_width": "250px",
}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
html_show_sourcelink = False


def _is_foreign(app, what, name, member, skip, options):
    """Leave out what estimators inherit from scikit-learn: its own site documents that."""
    home = getattr(member, "__module__", None)
    return True if home and not home.startswith("kernova") else None


def _escape(app, what, name, member, options, lines):
    """In a docstring |x| is a length and (n_features_in_,) a shape; in RST both are markup."""
    for number, line in enumerate(lines):
        pieces = line.split("``")  # every other piece is literal already
        pieces[::2] = [re.sub(r"\||(?<=\w)_(?=,\))", r"\\\g<0>", piece) for piece in pieces[::2]]
        lines[number] = "``".join(pieces)


def setup(app):
    app.connect("autodoc-skip-member", _is_foreign)
    app.connect("autodoc-process-docstring", _escape, priority=100)  # before numpydoc
