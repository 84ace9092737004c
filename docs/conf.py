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
    "page_width": "1140px",
    "sidebar_width": "250px",
}
html_static_path = ["_static"]
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
html_show_sourcelink = False


def _is_left_out(app, what, name, member, skip, options):
    """Leave out what scikit-learn's own site documents, and "alias for field number 0"."""
    home = getattr(member, "__module__", None) or "kernova"
    is_field = type(member).__name__ == "_tuplegetter"
    return True if is_field or not home.startswith("kernova") else None


def _escape(app, what, name, member, options, lines):
    """In a docstring |x| is a length and (n_features_in_,) a shape; in RST both are markup."""
    for number, line in enumerate(lines):
        pieces = line.split("``")  # every other piece is literal already
        pieces[::2] = [re.sub(r"\||(?<=\w)_(?=,\))", r"\\\g<0>", piece) for piece in pieces[::2]]
        lines[number] = "``".join(pieces)


def setup(app):
    app.connect("autodoc-skip-member", _is_left_out)
    app.connect("autodoc-process-docstring", _escape, priority=100)  # before numpydoc
