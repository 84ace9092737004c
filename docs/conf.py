"""Sphinx configuration of the site, with numpydoc for the docstrings."""

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

# One page for each public name, by the template in docs/_templates/autosummary.
autosummary_generate = True
# The docstrings describe the types; signatures without them are easier to read.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "alabaster"
html_theme_options = {
    "description": "Novelty detection with a proven bound on false alarms.",
    "fixed_sidebar": True,
    "page_width": "1140px",
    "sidebar_width": "250px",
}
html_static_path = ["_static"]
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
html_show_sourcelink = False


def _skip_member(app, what, name, member, skip, options):
    """Skip members that scikit-learn documents, and fields ("alias for field number 0")."""
    home = getattr(member, "__module__", None) or "kernova"
    is_field = type(member).__name__ == "_tuplegetter"
    return True if is_field or not home.startswith("kernova") else None


def _escape(app, what, name, member, options, lines):
    """Escape |x| (a length) and (n_features_in_,) (a shape), which are markup in RST."""
    for number, line in enumerate(lines):
        pieces = line.split("``")  # every other piece is literal already
        pieces[::2] = [re.sub(r"\||(?<=\w)_(?=,\))", r"\\\g<0>", piece) for piece in pieces[::2]]
        lines[number] = "``".join(pieces)


def _markdown_as_rst(app, relative_path, parent, content):
    """Turn the headings and tables of a decision, which is Markdown, into those of RST."""
    if relative_path.suffix != ".md":
        return
    text = re.sub(r"^## (.+)$", r"**\1**", content[0], flags=re.M)
    content[0] = re.sub(r"(?:^\|.*\|$\n?)+", _list_table, text, flags=re.M)


def _list_table(found):
    rows = [line.strip("|").split("|") for line in found[0].splitlines()]
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (rows[0], *rows[2:]):  # the second row are dashes
        marks = ["   * -", *["     -"] * (len(row) - 1)]
        lines += [f"{mark} {cell.strip()}" for mark, cell in zip(marks, row, strict=True)]
    return "\n".join([*lines, "", ""])


def setup(app):
    app.connect("include-read", _markdown_as_rst)
    app.connect("autodoc-skip-member", _skip_member)
    app.connect("autodoc-process-docstring", _escape, priority=100)  # before numpydoc
