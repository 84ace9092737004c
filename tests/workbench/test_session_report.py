"""Report of a session: complete, honest, printable, and without any request."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernova.discover.opinions import Opinion
from kernova.discover.project.reading import read_project
from kernova.discover.project.recovery import recover
from kernova.errors import InputError
from kernova.media.opening import open_discovery_data
from kernova.report.page import LARGEST_PAGE
from kernova.workbench.closed_project import closed_project
from kernova.workbench.session_report import citation
from kernova.workbench.session_report.agreement import agreement_section
from kernova.workbench.session_report.page import session_page
from tests.workbench.labelled import MEDIA, label_in_every_way, workbench_over

ROOT = Path(__file__).parents[2]


def report_of(bench):
    return bench.report.page().decode()


def words_of(html):
    """Return the text of a page."""
    text = re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.S)
    return " ".join(text.split())


@pytest.mark.parametrize("media", MEDIA)
def test_a_report_holds_everything_and_asks_for_nothing(tmp_path, media):
    if media == "sounds":
        pytest.importorskip("soundfile", reason="the extra `audio` is not installed")
    with workbench_over(tmp_path, media) as bench:
        label_in_every_way(bench)
        bench.learning.begin()
        assert bench.learning.wait(120)
        html = report_of(bench)
    words = words_of(html)
    assert "9 rows of 24 have a label, in 4 categories." in words
    assert "1 question was asked, of which 0 have no label." in words
    for title in ("By whom and when", "Discovery curve", "Categories", "Agreement between experts",
                  "Quality of the model", "Undecided, flagged and noted rows", "When to stop",
                  "Limits", "How to cite and repeat"):  # fmt: skip
        assert f">{title}</h2>" in html
    for fact in ("accepted from a model 4", "labelled by hand 5", "of these undecided 1",
                 "open disagreements 1", "flagged 2"):  # fmt: skip
        assert fact in words
    assert "2 rows were labelled by two or more experts." in words
    assert "1 disagreement is open." in words
    assert "4 labels were accepted from a model and not looked at one by one." in words
    assert "freshwater fish" in words
    assert "&lt;b&gt;" in html  # a note is data
    assert len(html) < LARGEST_PAGE / 4
    # No script, no request: pictures are in the page, and links lead within it.
    assert "<script" not in html
    assert not re.search(r"(src|href)=\"(?!data:image/|#)", html)
    assert "url(" not in html
    has_examples = media != "table"
    assert ('<div class="gallery">' in html) is has_examples


def test_an_empty_session_has_a_report(tmp_path):
    with workbench_over(tmp_path, "table") as bench:
        words = words_of(report_of(bench))
    for sentence in ("0 rows of 24 have a label, in 0 categories.", "No question was asked.",
                     "Nobody has recorded anything yet.", "No category has been found yet.",
                     "No model was at hand when this page was made"):  # fmt: skip
        assert sentence in words


def test_prior_labels_and_the_random_baseline(tmp_path):
    with workbench_over(tmp_path, "table") as bench:
        session = bench.discovery.session
        for place in range(8):
            session.next_question("Anna")
            session.answer(("carp", "pike", "eel")[place % 3], expert="Anna")
        html = report_of(bench)
    assert "Dashed: what random sampling would be expected to find" in words_of(html)
    assert "Anna 8 8 0" in words_of(html)


def test_many_categories_and_pictures_stay_below_the_limit(tmp_path):
    with workbench_over(tmp_path, "pictures") as bench:
        session = bench.discovery.session
        for place, one in enumerate(session.ids_):
            session.label_row(one, f"category {place}", expert="Anna")
        html = report_of(bench)
    assert html.count("<h3>category ") == 23  # one row has no picture
    assert "1 category without pictures" in words_of(html)


def closed(folder, data=None):
    content = read_project(folder / "made.kernova-project").content
    return closed_project(content, recover(content), data)


def test_a_closed_project_is_reported_without_its_table(tmp_path):
    with workbench_over(tmp_path, "table") as bench:
        label_in_every_way(bench)
        expected = bench.exports.labels()
        # It is read while it is open.
        project = closed(tmp_path)
        words = words_of(session_page(project.report("made.kernova-project")))
    assert "9 rows of 24 have a label, in 4 categories." in words
    assert "The random baseline needs the table, which was not at hand." in words
    snapshot = project.snapshot()
    assert snapshot.labels.tolist() == expected["category"].replace({np.nan: None}).tolist()
    data = open_discovery_data(tmp_path / "rows.csv", id_column="id")
    words = words_of(session_page(closed(tmp_path, data).report("made.kernova-project")))
    assert "Dashed: what random sampling" in words
    assert "classes were learnt from 5 rows" in words


def test_another_table_is_rejected(tmp_path):
    with workbench_over(tmp_path, "table") as bench:
        label_in_every_way(bench)
    text = (tmp_path / "rows.csv").read_text().replace("row 5,", "row 55,")
    (tmp_path / "rows.csv").write_text(text)
    data = open_discovery_data(tmp_path / "rows.csv", id_column="id")
    with pytest.raises(InputError, match=r"The project belongs to another table than .*rows\.csv"):
        closed(tmp_path, data)


def test_the_citation_is_that_of_the_repository():
    source = (ROOT / "CITATION.cff").read_text()
    assert f'title: "{citation.TITLE}"' in source
    assert f'name: "{citation.AUTHORS}"' in source
    assert "Category Detection Using Hierarchical Mean Shift" in source
    assert "Vatturi" in citation.PAPERS[0]


def test_agreement_beyond_chance_is_of_answers_that_saw_no_other(tmp_path):
    one = [Opinion("carp", by="Anna", blind="carp"), Opinion("carp", by="Bob", blind="carp")]
    two = [Opinion("pike", by="Anna", blind="pike"), Opinion("pike", by="Bob", blind="pike")]
    differ = [Opinion("pike", by="Anna", blind="pike"), Opinion("carp", by="Bob", blind="carp")]
    seen = [Opinion("pike", by="Anna", blind="pike"), Opinion("pike", by="Bob")]
    with workbench_over(tmp_path, "table") as bench:
        opinions = dict(enumerate(map(tuple, [one] * 6 + [two] * 5 + [differ, seen])))
        section = agreement_section(replace(bench.exports.snapshot(), opinions=opinions))
    words = words_of(" ".join(section.parts))
    assert "13 rows were labelled by two or more experts." in words
    assert "the same category in 92 % of 12 comparisons (95 % interval 65 % to 99 %)." in words
    assert "Beyond chance, Fleiss' kappa is 0.83" in words.replace("&#x27;", "'")
    assert "1 row of these cannot be measured" in words
    assert "Anna Bob 12 11 92% 0.83" in words
