"""Novelty detection, from two tables to verdicts and a page."""

import numpy as np
import pandas as pd
import pytest

from kernova import InputError, load_model, read_table, save_model
from kernova.report.page import LARGEST_PAGE
from kernova.workflows.detectors import detector_names
from kernova.workflows.novelty import find_novelties, read_known_and_new
from kernova.workflows.novelty_page import novelty_figures, novelty_page
from kernova.workflows.settings import NoveltySettings
from tests.workflows.messages import BAD_NOVELTY_METHOD, DRIFT, LEFT_OUT, UNUSED_BANDWIDTH


def tables(tmp_path, *, columns=3, n_known=300, with_text=False):
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(columns)]
    known = pd.DataFrame(rng.normal(size=(n_known, columns)), columns=names)
    new = pd.DataFrame(rng.normal(size=(40, columns)), columns=names)
    new.iloc[::4] += 8.0
    new.insert(0, "fish", [f"{10**17 + 7 * i}" for i in range(len(new))])
    if with_text:
        known["sex"] = np.where(np.arange(n_known) % 2, "f", "m")
        new["sex"] = ["f", "other"] * 20
    known.to_csv(tmp_path / "known.csv", index=False)
    new[new.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)  # another order of columns
    return read_known_and_new(tmp_path / "known.csv", tmp_path / "new.csv", id_column="fish")


@pytest.mark.parametrize("method", detector_names("novelty"))
def test_every_method_finds_the_novel_rows_and_keeps_ids_and_order(tmp_path, method):
    known, new = tables(tmp_path)
    result = find_novelties(known, new, NoveltySettings(method=method))
    assert list(result.rows["fish"]) == [f"{10**17 + 7 * i}" for i in range(40)]
    is_novel = (result.rows["verdict"] == "novel").to_numpy()
    assert is_novel[::4].all()
    assert is_novel.mean() < 0.4
    np.testing.assert_array_equal(is_novel, result.rows["novelty"] >= 0)
    assert result.n_novel == is_novel.sum()
    assert list(result.most_novel_first["novelty"]) == sorted(result.rows["novelty"], reverse=True)


def test_an_unknown_method_is_rejected(tmp_path):
    with pytest.raises(InputError) as caught:
        find_novelties(*tables(tmp_path), NoveltySettings(method="magic"))
    assert str(caught.value) == BAD_NOVELTY_METHOD


def test_the_same_seed_gives_the_same_answer(tmp_path):
    pair = tables(tmp_path, with_text=True)
    first, second = (find_novelties(*pair, NoveltySettings(seed=3)) for _ in range(2))
    pd.testing.assert_frame_equal(first.rows, second.rows)
    other = find_novelties(*pair, NoveltySettings(seed=4))
    assert not first.rows["novelty"].equals(other.rows["novelty"])


def test_scales_are_learnt_without_the_held_out_rows(tmp_path):
    """Otherwise held-out rows would look more ordinary than new ones, and the bound be false."""
    known, new = tables(tmp_path)
    detector = find_novelties(known, new, NoveltySettings(method="depth")).detector
    encoder = detector.estimator_[0]
    reference = known.features.to_numpy()[detector.reference_indices_]
    np.testing.assert_allclose(
        encoder.transform(known.features)[detector.reference_indices_].mean(axis=0), 0, atol=1e-12
    )
    assert len(reference) == 176  # of 300: 124 prove the rate with the 2 alarms that 150 allow


def test_missing_values_can_be_dropped_or_filled(tmp_path):
    tables(tmp_path)
    frame = pd.read_csv(tmp_path / "new.csv", dtype={"fish": str})
    frame.loc[[1, 5], "x0"] = np.nan
    frame.to_csv(tmp_path / "new.csv", index=False)
    arguments = (tmp_path / "known.csv", tmp_path / "new.csv")
    dropped = read_known_and_new(*arguments, id_column="fish", missing="drop")
    result = find_novelties(*dropped, NoveltySettings(missing="drop"))
    assert len(result.rows) == 38
    source = tmp_path / "new.csv"
    assert result.notes == [f"2 rows of {source} have missing values and were left out."]
    filled = read_known_and_new(*arguments, id_column="fish", missing="fill")
    assert len(find_novelties(*filled, NoveltySettings(missing="fill")).rows) == 40


def test_labels_and_dropped_columns_may_be_in_one_table_only(tmp_path):
    tables(tmp_path)
    frame = pd.read_csv(tmp_path / "new.csv", dtype={"fish": str})
    frame.assign(species="a", note="b").to_csv(tmp_path / "new.csv", index=False)
    pair = read_known_and_new(
        tmp_path / "known.csv",
        tmp_path / "new.csv",
        id_column="fish",
        label_column="species",
        drop=["note"],
    )
    assert list(find_novelties(*pair).rows.columns) == [
        "fish", "novelty", "p_value", "verdict", "because", "species",
    ]  # fmt: skip


def test_what_is_a_category_is_judged_on_the_known_rows(tmp_path):
    pd.DataFrame({"x": range(130), "tag": ["a", "7b"] * 65}).to_csv(
        tmp_path / "known.csv", index=False
    )
    (tmp_path / "new.csv").write_text("x,tag\n3,7\n4,a\n")
    with pytest.raises(InputError):
        read_table(tmp_path / "new.csv")
    pair = read_known_and_new(tmp_path / "known.csv", tmp_path / "new.csv")
    assert len(find_novelties(*pair).rows) == 2


def test_the_page_holds_the_answer_and_is_small(tmp_path):
    known, new = tables(tmp_path, with_text=True)
    settings = NoveltySettings(false_discovery_rate=0.1)
    result = find_novelties(known, new, settings)
    html = novelty_page(result)
    assert len(html.encode()) < LARGEST_PAGE == 3_000_000
    assert result.detector.guarantee() in html
    assert html.count("<img ") == 4
    assert result.most_novel_first.iloc[0]["fish"] in html
    assert "http" not in html.replace("http-equiv", "")


def test_two_columns_get_contours(tmp_path):
    result = find_novelties(*tables(tmp_path, columns=2))
    assert "contours" in novelty_figures(result)
    assert "map" not in novelty_figures(result)


def test_ids_on_the_page_are_text_and_never_markup(tmp_path):
    known, new = tables(tmp_path)
    new.ids.iloc[0] = "<script>alert(1)</script>"
    html = novelty_page(find_novelties(known, new))
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_rows_beyond_the_reach_of_the_kernel_are_found(tmp_path):
    """At any bandwidth a row far out is less deep than an isolated known row."""
    rng = np.random.default_rng(0)
    known, new = rng.normal(size=(260, 2)), np.array([[0.0, 0.0], [9.0, -9.0]])
    np.save(tmp_path / "known.npy", known)
    np.save(tmp_path / "new.npy", new)
    pair = read_known_and_new(tmp_path / "known.npy", tmp_path / "new.npy")
    for bandwidth in ("nearest", "reach"):
        asked = NoveltySettings(method="depth", bandwidth=bandwidth, holdout=0.5)
        found = find_novelties(*pair, asked)
        assert list(found.rows["verdict"]) == ["usual", "novel"]
        assert found.notes == []
    (note,) = find_novelties(*pair, NoveltySettings(bandwidth="reach")).notes
    assert note == UNUSED_BANDWIDTH


def test_groups_are_read_from_a_column_and_held_out_whole(tmp_path):
    rng = np.random.default_rng(0)
    known = pd.DataFrame(rng.normal(size=(300, 2)), columns=["x", "y"])
    known.assign(site=np.repeat([f"s{i}" for i in range(100)], 3)).to_csv(
        tmp_path / "known.csv", index=False
    )
    new = pd.DataFrame({"x": [0.0, 40.0], "y": [0.0, 40.0]})
    new.to_csv(tmp_path / "new.csv", index=False)
    arguments = (tmp_path / "known.csv", tmp_path / "new.csv")
    pair = read_known_and_new(*arguments, group_column="site")
    assert list(pair.known.features.columns) == ["x", "y"]
    result = find_novelties(*pair, NoveltySettings(method="isolation-forest", group_column="site"))
    assert list(result.rows["verdict"]) == ["usual", "novel"]
    sites = pair.known.labels.to_numpy()
    detector = result.detector
    held_out = set(sites[detector.holdout_indices_])
    assert len(held_out) == 59
    assert not held_out & set(sites[detector.reference_indices_])
    assert "rows of other groups" in result.detector.guarantee()
    # The new table may have the column, too; it is copied if it is asked for as a label.
    new.assign(site=["a", "b"]).to_csv(tmp_path / "new.csv", index=False)
    pair = read_known_and_new(*arguments, group_column="site", label_column="site")
    assert list(pair.new.labels) == ["a", "b"]
    assert list(read_known_and_new(*arguments, group_column="site").new.features) == ["x", "y"]
    with pytest.raises(InputError, match="no column 'basin' to use as group column"):
        read_known_and_new(*arguments, group_column="basin")


def test_folds_reach_the_page(tmp_path):
    known, new = tables(tmp_path, columns=2)
    settings = NoveltySettings("isolation-forest", calibration="cross", false_discovery_rate=0.1)
    result = find_novelties(known, new, settings)
    assert "detectors must agree" in result.detector.guarantee()
    assert "contours" not in novelty_figures(result)
    assert result.detector.guarantee() in novelty_page(result)
    assert any("is an estimate" in note for note in result.notes)
    assert result.is_novel[::4].all()


def test_drift_is_noted_and_a_few_novel_rows_are_not_drift(tmp_path):
    rng = np.random.default_rng(0)
    known, new = rng.normal(size=(1500, 3)), rng.normal(size=(800, 3))
    few_novel = np.vstack([new[:740], new[740:] + 9])
    np.save(tmp_path / "known.npy", known)
    for name, rows, is_drift in [
        ("same", new, False),
        ("few", few_novel, False),
        ("shifted", new + 0.9, True),
    ]:
        np.save(tmp_path / f"{name}.npy", rows)
        pair = read_known_and_new(tmp_path / "known.npy", tmp_path / f"{name}.npy")
        result = find_novelties(*pair, NoveltySettings(method="isolation-forest"))
        notes = [note for note in result.notes if note.startswith(DRIFT)]
        assert len(notes) == is_drift, name


def test_the_bound_on_false_discoveries_is_a_note(tmp_path):
    result = find_novelties(*tables(tmp_path), NoveltySettings(false_discovery_rate=0.2))
    n_found = int(result.rows["discovery"].sum())
    assert n_found >= 10
    assert any(f"of the {n_found} discoveries" in note for note in result.notes)


@pytest.mark.parametrize("own", [{}, {"calibration": "cross"}, {"group_column": "site"}])
def test_the_ensemble_says_which_members_spoke(tmp_path, own):
    """Gaps, categories and far cells are input as any other; models are saved with all of it."""
    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.normal(size=(620, 3)), columns=["x", "y", "z"])
    features["kind"] = rng.choice(["a", "b"], 620)
    features.loc[::9, "y"] = np.nan
    known = features.iloc[:600].assign(site=np.repeat(np.arange(150), 4))
    new = features.iloc[600:].reset_index(drop=True)
    new.loc[2, "x"] = 9.0
    new.loc[5, "z"] = 1e12
    known.to_csv(tmp_path / "known.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    group = {"group_column": "site"} if "group_column" in own else {"drop": ["site"]}
    pair = read_known_and_new(tmp_path / "known.csv", tmp_path / "new.csv", **group)
    result = find_novelties(*pair, NoveltySettings(top=2, **own))
    assert result.explained == [5, 2]
    assert [text.split(" = ")[0] for text in result.rows["because"][[5, 2]]] == ["z", "x"]
    html, explanations = novelty_page(result), result.to_json_dict()["explanations"]
    for row, explanation in zip(result.explained, explanations, strict=True):
        assert result.members_sentence(row) in html
        spoken = sum(bits > np.log2(20) for bits in explanation["members"].values())
        assert spoken >= 4
        assert result.members_sentence(row).startswith(f"{spoken} of 6 members")
    save_model(result.detector, tmp_path / "m.kernova")
    again = load_model(tmp_path / "m.kernova")
    np.testing.assert_array_equal(again.score_samples(pair.new.features), result.scores)


def test_what_an_ensemble_left_out_is_noted(tmp_path):
    rng = np.random.default_rng(0)
    known = pd.DataFrame(rng.normal(size=(200, 401)), columns=[f"c{i}" for i in range(401)])
    known["twice"] = 2 * known["c0"]
    known.to_csv(tmp_path / "known.csv", index=False)
    known.head(5).to_csv(tmp_path / "new.csv", index=False)
    pair = read_known_and_new(tmp_path / "known.csv", tmp_path / "new.csv")
    notes = find_novelties(*pair, NoveltySettings(top=0)).notes
    assert notes[: len(LEFT_OUT)] == LEFT_OUT
