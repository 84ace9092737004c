"""Verdicts on specimens: the same however they lay, and better than on raw coordinates."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from kernova import InputError, load_model, save_model
from kernova.workflows.agreement import compare_methods
from kernova.workflows.landmarks.alignment import LandmarkColumns
from kernova.workflows.learn import learn_classes, read_labelled
from kernova.workflows.novelty import find_novelties, read_known_and_new
from kernova.workflows.outliers import find_outliers, read_rows
from kernova.workflows.recognize import load_recognizer, read_new, recognize_rows
from kernova.workflows.settings import (
    LearnSettings,
    NoveltySettings,
    OutlierSettings,
    RecognizeSettings,
)
from tests.workflows.landmarks import messages, specimens
from tests.workflows.landmarks.specimens import (
    KNOWN,
    KNOWN_IDS,
    NEW,
    NEW_IDS,
    known,
    laid,
    new,
    shapes,
    wide,
    with_gaps,
)

pytestmark = pytest.mark.usefixtures("few_trees")

MDDKM = LearnSettings(method="mddkm")
LOF = NoveltySettings(method="lof", max_false_alarm=0.3)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("known", known(), KNOWN_IDS, KNOWN)
    write("new", new(), NEW_IDS, NEW)
    return tmp_path


def write(name, points, ids, species, **tps):
    wide(points, id=ids, species=species).to_csv(f"{name}.csv", index=False)
    Path(f"{name}.tps").write_text(specimens.tps(points, ids, **tps))


def model_of(path="known.csv", settings=MDDKM, **how):
    """The model as it is when it comes from a file."""
    label = {"label_column": "species"} if path.endswith("csv") else {"label_column": None}
    learnt = learn_classes(read_labelled(path, **{**label, **how}), settings)
    save_model(learnt.model, "model.kernova")
    return load_recognizer("model.kernova")


def recognized(path, model, **how):
    return recognize_rows(model, read_new(path, model, **how), RecognizeSettings(top=2))


# --- learn and recognize -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["open-set", "mddkm"])
def test_known_species_are_recognised_and_others_are_not(method):
    result = recognized("new.csv", model_of(settings=LearnSettings(method=method)))
    verdicts = result.rows["recognized"].to_numpy()
    assert set(verdicts[10:]) == {"unknown"}
    assert (verdicts[:10] == NEW[:10]).sum() >= 9
    assert result.confusion.foreign == ("eel",)
    assert messages.LIKE_TRAINING.format("new.csv") in result.new.notes
    assert any("(aligned) = " in text for text in result.rows["because"])


@pytest.mark.parametrize("method", ["open-set", "mddkm"])
@pytest.mark.parametrize("file", ["csv", "tps"])
def test_verdicts_do_not_depend_on_how_specimens_lay(method, file):
    model = model_of(settings=LearnSettings(method=method))
    first = recognized(f"new.{file}", model, id_pattern="^([a-z]+)_").rows
    for laid_by in (5, 6):
        write("turned", new(laid_by), NEW_IDS, NEW)
        turned = recognized(f"turned.{file}", model, id_pattern="^([a-z]+)_").rows
        assert turned["recognized"].tolist() == first["recognized"].tolist()
        columns = first.select_dtypes("number").columns
        np.testing.assert_allclose(turned[columns], first[columns], rtol=1e-3, atol=1e-3)


def test_what_is_learnt_does_not_depend_on_how_specimens_lay():
    write("turned", laid(shapes(KNOWN, seed=1), seed=8), KNOWN_IDS, KNOWN)
    first, turned = (
        learn_classes(read_labelled(path, "species"), MDDKM) for path in ("known.csv", "turned.csv")
    )
    pd.testing.assert_frame_equal(first.classes, turned.classes, atol=1e-3)


def accuracy(**how):
    classes = learn_classes(read_labelled("known.csv", "species", **how), MDDKM).classes
    return np.average(classes["recognized"], weights=classes["rows"])


def test_aligned_specimens_are_recognised_more_often_than_raw_ones():
    assert accuracy() > 0.9
    assert accuracy(raw_coordinates=True, drop=["id"]) < 0.8


def test_the_alignment_is_part_of_the_model():
    model = model_of(missing="fill")
    assert isinstance(model.reader, LandmarkColumns)
    assert (model.reader.id_column, model.reader.label_column) == ("id", "species")
    rows = recognized("new.csv", model).rows
    save_model(load_model("model.kernova"), "again.kernova")
    again = recognized("new.csv", load_recognizer("again.kernova")).rows
    pd.testing.assert_frame_equal(rows, again)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_missing_landmarks_of_new_specimens_are_estimated(dimensions):
    write("known", with_gaps(known(dimensions)), KNOWN_IDS, KNOWN)
    write("new", with_gaps(new(dimensions=dimensions)), NEW_IDS, NEW)
    result = recognized("new.tps", model_of())
    assert (result.rows["recognized"][:10] == NEW[:10]).mean() >= 0.8
    assert set(result.rows["recognized"][10:]) == {"unknown"}
    # One that all new specimens lack can be estimated, too, since training specimens have it.
    write("new", with_gaps(new(dimensions=dimensions), every=1), NEW_IDS, NEW)
    assert set(recognized("new.tps", model_of()).rows["recognized"][10:]) == {"unknown"}


def test_missing_landmarks_are_treated_as_in_training():
    write("new", with_gaps(new(), every=6), NEW_IDS, NEW)
    model = model_of(settings=LearnSettings(method="mddkm", missing="refuse"))
    with pytest.raises(InputError, match="3 specimens lack landmarks in new"):
        read_new("new.csv", model)
    assert read_new("new.csv", model, missing="drop").n_dropped == 3
    assert read_new("new.csv", model, missing="auto").n_dropped == 0


def test_labels_of_new_specimens_come_from_anywhere():
    model = model_of("known.tps", id_pattern="^([a-z]+)_")
    assert read_new("new.tps", model).labels is None
    assert read_new("new.tps", model, id_pattern="^([a-z]+)_").labels.tolist() == NEW
    assert read_new("new.csv", model, label_column="species").labels.tolist() == NEW
    table = read_new("new.tps", model, labels="new.csv", label_column="species")
    assert table.labels.tolist() == NEW
    # Columns of training are used where they are, and only there.
    model = model_of()
    assert read_new("new.csv", model).labels.tolist() == NEW
    assert read_new("new.tps", model).labels is None


def test_the_id_column_is_that_of_training():
    for name in ("known", "new"):
        frame = pd.read_csv(f"{name}.csv").rename(columns={"id": "fish"})
        frame.to_csv(f"{name}.csv", index=False)
    model = model_of(id_column="fish")
    assert read_new("new.csv", model).ids.tolist() == NEW_IDS
    assert read_new("new.tps", model).ids.tolist() == NEW_IDS
    pd.DataFrame({"name": NEW_IDS, "kind": NEW}).to_csv("kinds.csv", index=False)
    table = read_new("new.csv", model, labels="kinds.csv", label_column="kind")
    assert table.ids.tolist() == NEW_IDS
    assert table.labels.tolist() == NEW


def test_sizes_of_new_specimens_are_in_the_unit_of_training():
    write("known", known(), KNOWN_IDS, KNOWN, scale=0.01)
    model = model_of("known.tps", id_pattern="^([a-z]+)_", size=True)
    write("new", new() * 10, NEW_IDS, NEW, scale=0.001)
    enlarged = read_new("new.tps", model).features
    write("new", new(), NEW_IDS, NEW, scale=0.01)
    np.testing.assert_allclose(enlarged, read_new("new.tps", model).features, atol=2e-6)
    Path("new.tps").write_text(Path("new.tps").read_text().replace("SCALE=0.01\n", "", 1))
    with pytest.raises(InputError) as raised:
        read_new("new.tps", model)
    assert str(raised.value) == messages.ONE_SCALE.format("new.tps")
    unscaled = model_of("known.csv", size=True)
    assert messages.SCALES_UNUSED.format("new.tps") not in read_new("new.csv", unscaled).notes
    assert messages.SCALES_UNUSED.format("new.tps") in read_new("new.tps", unscaled).notes


def test_files_that_are_not_like_those_of_training():
    aligned, raw = model_of(), learn_classes(
        read_labelled("known.csv", "species", raw_coordinates=True), MDDKM
    ).model  # fmt: skip
    write("five", new()[:, :5], NEW_IDS, NEW)
    Path("new.nts").write_text(specimens.nts(new(), NEW_IDS))
    pd.read_csv("new.csv")[["id", "species"]].to_csv("plain.csv", index=False)
    like, plain = "the model was learnt from", "the training table"
    bad = [
        ("five.csv", aligned, {}, messages.OTHER_LAYOUT.format("five.csv", like)),
        ("five.tps", aligned, {}, messages.OTHER_LAYOUT.format("five.tps", like)),
        ("plain.csv", aligned, {}, messages.NO_LANDMARKS.format("plain.csv")),
        ("new.csv", aligned, {"id_column": "x1"}, messages.A_COORDINATE_NOW.format("new.csv")),
        ("new.tps", raw, {}, messages.TPS_FOR_A_TABLE.format("new.tps")),
        ("new.nts", raw, {}, messages.LANDMARKS_FOR_A_TABLE.format("new.nts", plain)),
        ("new.csv", raw, {"id_pattern": "(.)"},
         messages.LABELS_FOR_A_TABLE.format("id_pattern", "new.csv")),
        ("new.csv", raw, {"labels": "new.csv"},
         messages.LABELS_FOR_A_TABLE.format("labels", "new.csv")),
    ]  # fmt: skip
    for path, model, how, message in bad:
        with pytest.raises(InputError) as raised:
            read_new(path, model, **how)
        assert str(raised.value) == message
    assert len(read_new("new.csv", raw).features.columns) == 12


# --- outliers ------------------------------------------------------------------------------------

OUTLIER_METHODS = ["isolation-forest", "rkof", "lof", "ldf", "lpf", "depth"]


@pytest.mark.parametrize("method", OUTLIER_METHODS)
def test_the_odd_specimen_comes_first_however_it_lay(method):
    for seed in (2, 7):
        upright = shapes(["carp"] * 59 + ["eel"], seed=1)
        write("fish", laid(with_gaps(upright[::-1], every=8, landmark=0), seed), KNOWN_IDS, KNOWN)
        result = find_outliers(read_rows("fish.tps"), OutlierSettings(method=method, top=1))
        assert result.rows.iloc[0]["specimen"] == KNOWN_IDS[0]
    assert "(aligned) = " in result.rows.iloc[0]["because"]


def test_ranks_do_not_depend_on_how_specimens_lay():
    settings = OutlierSettings(method="lof", top=0)
    first = find_outliers(read_rows("known.tps"), settings).rows
    write("known", laid(shapes(KNOWN, seed=1), seed=8), KNOWN_IDS, KNOWN)
    turned = find_outliers(read_rows("known.tps"), settings).rows
    factors = (rows.set_index("specimen")["factor"].sort_index() for rows in (first, turned))
    np.testing.assert_allclose(*factors, rtol=1e-3)


def test_a_bound_is_proven_with_an_alignment_of_each_half():
    settings = OutlierSettings(method="lof", max_false_alarm=0.3, top=0)
    result = find_outliers(read_rows("known.tps"), settings)
    assert result.proof.bound <= 0.3


def test_all_methods_compare_aligned_specimens():
    write("fish", laid(shapes(["eel"] + ["carp"] * 59, seed=1), 2), KNOWN_IDS, KNOWN)
    settings = OutlierSettings(method="all", top=5)
    result = compare_methods(read_rows("fish.tps"), settings, ["lof", "rkof"])
    assert result.rows.iloc[0]["specimen"] == KNOWN_IDS[0]


def test_outliers_that_the_publishers_excluded_are_found_after_alignment(data_folder):
    """Five Tropheus whose landmark 2 is wrong, among 723."""
    path = data_folder / "landmarks" / "tropheus" / "tropheus.csv"
    found = {}
    for is_raw in (False, True):
        table = read_rows(
            path, id_column="id", label_column="lm2_outlier", raw_coordinates=is_raw,
            drop=["taxon", "population", "sex", "allo_symp"],
        )  # fmt: skip
        rows = find_outliers(table, OutlierSettings(method="lof", top=0)).rows
        found[is_raw] = roc_auc_score(rows["lm2_outlier"].astype(int), rows["factor"])
    assert found[False] > 0.98
    assert found[True] < 0.8


def test_real_species_are_told_apart_more_often_after_alignment(data_folder):
    path = data_folder / "landmarks" / "small" / "plethodon.csv"
    aligned, raw = (
        learn_classes(
            read_labelled(path, "species", drop=["site"], raw_coordinates=is_raw), MDDKM
        ).classes["recognized"].mean()
        for is_raw in (False, True)
    )  # fmt: skip
    assert aligned > 0.7
    assert raw < 0.6


# --- novelty -------------------------------------------------------------------------------------

NOVELTY_METHODS = ["spatial-depth", "isolation-forest", "one-class-svm", "lof", "depth"]


@pytest.mark.parametrize("method", NOVELTY_METHODS)
@pytest.mark.parametrize("file", ["csv", "tps"])
def test_new_species_are_novel(method, file):
    write("new", with_gaps(new()), NEW_IDS, NEW)
    tables = read_known_and_new(f"known.{file}", "new.tps")
    settings = NoveltySettings(method=method, max_false_alarm=0.3, top=1)
    rows = find_novelties(*tables, settings).rows
    assert (rows["verdict"] == "novel")[10:].all()
    assert rows["novelty"][:10].max() < rows["novelty"][10:].min()


def test_novelty_does_not_depend_on_how_specimens_lay():
    first = find_novelties(*read_known_and_new("known.tps", "new.tps"), LOF)
    write("new", new(laid_by=5), NEW_IDS, NEW)
    write("known", laid(shapes(KNOWN, seed=1), seed=8), KNOWN_IDS, KNOWN)
    turned = find_novelties(*read_known_and_new("known.csv", "new.csv"), LOF)
    np.testing.assert_allclose(turned.rows["novelty"], first.rows["novelty"], atol=1e-2)
    assert turned.rows["verdict"].tolist() == first.rows["verdict"].tolist()


def test_the_detector_aligns_by_the_rows_it_learns_from():
    """So that held-out specimens are aligned as new ones are, which the bound rests on."""
    tables = read_known_and_new("known.csv", "new.csv", label_column="species")
    result = find_novelties(*tables, LOF)
    alignment = result.detector.estimator_[0]
    n_learnt = len(result.detector.reference_indices_)
    assert len(alignment.procrustes_.centroid_sizes_) == n_learnt < 60
    assert tables.known.labels.tolist() == KNOWN


def test_both_files_name_their_columns():
    frame = pd.read_csv("known.csv").rename(columns={"id": "fish"})
    frame.to_csv("known.csv", index=False)
    tables = read_known_and_new("known.csv", "new.tps", id_column="fish", drop=["species"])
    assert tables.known.ids.tolist() == KNOWN_IDS
    assert tables.new.ids.tolist() == NEW_IDS
    tables = read_known_and_new("new.tps", "known.csv", id_column="fish", label_column="species")
    assert tables.new.ids.tolist() == KNOWN_IDS
    assert tables.new.labels.tolist() == KNOWN


def test_specimens_of_one_group_are_held_out_together():
    variables = [f"pond={row % 20}" for row in range(60)]
    Path("known.tps").write_text(specimens.tps(known(), KNOWN_IDS, variables=variables))
    tables = read_known_and_new("known.tps", "new.tps", group_column="pond")
    settings = NoveltySettings(method="lof", max_false_alarm=0.4, group_column="pond")
    detector = find_novelties(*tables, settings).detector
    held_out = {row % 20 for row in detector.holdout_indices_}
    learnt = {row % 20 for row in detector.reference_indices_}
    assert held_out.isdisjoint(learnt)


def test_known_and_new_specimens_that_do_not_match():
    write("five", new()[:, :5], NEW_IDS, NEW)
    pd.read_csv("new.csv")[["id", "species"]].to_csv("plain.csv", index=False)
    table = messages.LANDMARKS_FOR_A_TABLE.format("new.tps", "plain.csv")
    bad = {
        ("known.csv", "five.csv"): messages.OTHER_LAYOUT.format("five.csv", "known.csv holds"),
        ("known.tps", "plain.csv"): messages.NO_LANDMARKS.format("plain.csv"),
        ("plain.csv", "new.tps"): table,
    }
    for paths, message in bad.items():
        with pytest.raises(InputError) as raised:
            read_known_and_new(*paths)
        assert str(raised.value) == message
