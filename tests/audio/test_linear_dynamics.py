"""Hierarchical linear dynamics against literal filters of all states and reference vectors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import (
    check_pipeline_consistency,
    check_transformer_data_not_an_array,
    check_transformer_general,
)

from kernova import load_model, save_model
from kernova.audio.chains import smoothed_level, smoothed_level_blocks
from kernova.audio.linear_dynamics import HierarchicalLinearDynamics
from kernova.errors import InputError
from tests import oracles
from tests.audio import literal, messages

NOISES = st.sampled_from([0.1, 1.0, 10.0, 300.0])
COUPLINGS = st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), max_size=3).map(tuple)


def wandering(n_frames, n_columns, seed=0):
    return 3 + np.random.default_rng(seed).normal(size=(n_frames, n_columns)).cumsum(axis=0)


def cut(Y, lengths):
    """Pieces of these lengths, and the rest."""
    return np.split(Y, np.minimum(np.cumsum(lengths, dtype=int), len(Y)))


@pytest.mark.parametrize("couplings", [(), (0.5,), (0.5, 1.0), (2.0, 2.0), (1.0, 0.5, 0.25)])
@pytest.mark.parametrize("noise", [0.1, 10.0, 1e3])
def test_smoothed_level_is_the_backward_pass_with_constant_gain(couplings, noise):
    Y = wandering(150, 2)
    expected = [literal.smoothed_level(y, couplings, noise) for y in Y.T]
    np.testing.assert_allclose(smoothed_level(Y, noise, couplings).T, expected, rtol=0, atol=1e-10)


@given(NOISES, COUPLINGS, st.lists(st.integers(0, 400), max_size=6), st.integers(1, 1500))
def test_smoothed_level_does_not_depend_on_blocks(noise, couplings, lengths, n_frames):
    Y = wandering(n_frames, 3)
    pieces = list(smoothed_level_blocks(cut(Y, lengths), noise, couplings))
    np.testing.assert_allclose(
        np.vstack(pieces), smoothed_level(Y, noise, couplings), rtol=0, atol=1e-12
    )


def test_smoothed_level_keeps_constants_and_does_not_lag():
    assert (smoothed_level(np.full((50, 2), 7.0)) == 7.0).all()
    bump = np.exp(-0.5 * (np.arange(-200, 201) / 8.0) ** 2)[:, None]
    level = smoothed_level(bump, 100.0)
    assert level.argmax() == 200
    np.testing.assert_allclose(level, level[::-1], rtol=0, atol=1e-9)


def test_nothing_in_nothing_out():
    assert smoothed_level(np.empty((0, 4))).shape == (0, 4)
    assert list(smoothed_level_blocks([np.empty((0, 4))])) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones(3),), messages.NOT_A_MATRIX),
        (([[1.0], [np.nan]],), messages.FRAMES_NOT_FINITE),
        ((np.ones((3, 1)), 0.0), messages.OBSERVATION_NOISE.format(value=0.0)),
        ((np.ones((3, 1)), float("nan")), messages.OBSERVATION_NOISE.format(value="nan")),
        ((np.ones((3, 1)), 1.0, (0.0,)), messages.COUPLINGS),
    ],
)
def test_bad_input_of_the_smoother_is_rejected(arguments, message):
    with pytest.raises(InputError) as raised:
        smoothed_level(*arguments)
    assert str(raised.value) == message


@st.composite
def layer_sizes(draw):
    """One to four layers, the lowest first, each a divisor of the one before."""
    sizes = [draw(st.integers(1, 3))]
    for _ in range(draw(st.integers(0, 3))):
        sizes.insert(0, sizes[0] * draw(st.integers(1, 3)))
    return tuple(sizes)


@pytest.mark.parametrize("factor", [1, 10_000])
@pytest.mark.parametrize("layers", [(8, 4, 2), (96, 24, 12)])
def test_layers_are_those_of_the_reference(reference_vectors, layers, factor):
    stored, name = reference_vectors("ref_hlds.npz"), "_".join(map(str, layers))
    Y, states = stored[f"Y_{name}"], stored[f"states_{name}_obs{factor}"]
    expected = {"all": states, "top": states[:, : layers[-1]], "level": states[:, -layers[0] :]}
    np.testing.assert_array_equal(expected["top"], stored[f"top_{name}_obs{factor}"])
    for output, values in expected.items():
        model = HierarchicalLinearDynamics(layers, output, factor)
        found = model.fit_transform(Y)
        np.testing.assert_allclose(found, values, rtol=0, atol=1e-10)
        np.testing.assert_array_equal(model.transform(Y), found)
        np.testing.assert_allclose(
            model.gain_, stored[f"gain_steady_{name}_obs{factor}"], rtol=0, atol=1e-10
        )
        for size in (1, 7, 4096):
            blocks = (Y[i : i + size] for i in range(0, len(Y), size))
            np.testing.assert_array_equal(np.vstack([*model.transform_blocks(blocks)]), found)


@given(layer_sizes(), st.sampled_from([0.01, 1.0, 50.0]), st.booleans(), st.integers(0, 99))
@settings(max_examples=40)
def test_chains_are_the_filter_of_all_states(layers, factor, own_noise, seed):
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.5, 5.0, size=len(layers)) if own_noise else None
    Y = wandering(60, layers[0], seed)
    expected = oracles.hierarchical_states(Y, layers, factor, noise)
    model = HierarchicalLinearDynamics(layers, "all", factor, noise)
    np.testing.assert_allclose(model.fit_transform(Y), expected, rtol=1e-10, atol=1e-10)


@given(
    layer_sizes(),
    st.sampled_from(["top", "level", "all"]),
    st.lists(st.integers(0, 40), max_size=8),
)
def test_blocks_change_nothing(layers, output, lengths):
    Y = wandering(130, layers[0])
    model = HierarchicalLinearDynamics(layers, output, 3.0).fit(Y)
    pieces = np.vstack([*model.transform_blocks(cut(Y, lengths))])
    np.testing.assert_array_equal(pieces, model.transform(Y))


def test_long_sequences_have_no_seams():
    """More frames than fit into the cache at once, and a transient that ends inside one part."""
    Y = wandering(4000, 128)
    model = HierarchicalLinearDynamics((128, 32, 16, 2), "all", 100.0).fit(Y)
    whole = model.transform(Y)
    state, pieces = model.start(), []
    for piece in cut(Y, [1, 1, 140, 2000, 0, 1000]):
        states, state = model.advance(piece, state)
        pieces.append(states)
    assert state.n_frames == len(Y)
    np.testing.assert_array_equal(np.vstack(pieces), whole)


def test_states_decay_in_long_silence():
    Y = np.zeros((30_000, 8))
    Y[:100] = np.random.default_rng(0).random((100, 8))
    model = HierarchicalLinearDynamics((8, 4, 2), "all").fit(Y)
    assert np.abs(model.transform(Y)[-1]).max() < 1e-100


def test_top_is_zero_for_ramps_and_level_is_not():
    ramp = np.linspace(0, 50, 500)[:, None] * np.ones(96)
    top = HierarchicalLinearDynamics(output="top").fit_transform(ramp)
    assert np.abs(top[200:]).max() < 1e-9
    level = HierarchicalLinearDynamics(output="level").fit_transform(ramp)
    np.testing.assert_allclose(level[200:], ramp[200:], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("n_columns", "layers"),
    [(96, (96, 24, 12)), (8, (8, 2, 1)), (20, (20, 5, 5)), (6, (6, 6, 3)), (1, (1, 1, 1))],
)
def test_layers_fit_the_frames(n_columns, layers):
    assert HierarchicalLinearDynamics().fit(np.zeros((2, n_columns))).layers_ == layers


def test_states_have_names():
    model = HierarchicalLinearDynamics((4, 2, 1), "all").fit(np.zeros((2, 4)))
    names = "layer3_0 layer2_0 layer2_1 layer1_0 layer1_1 layer1_2 layer1_3"
    assert " ".join(model.get_feature_names_out()) == names
    assert model.transform(np.empty((0, 4))).shape == (0, 7)


@pytest.mark.parametrize(
    "check",
    [check_transformer_general, check_transformer_data_not_an_array, check_pipeline_consistency],
)
def test_same_input_same_output(check):
    """Checks that scikit-learn skips because rows must not be shuffled."""

    class Unshuffled(HierarchicalLinearDynamics):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.non_deterministic = False
            return tags

    check("Unshuffled", Unshuffled())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"layers": (96, 24, 12)}, messages.LAYERS_OF_FRAMES),
        ({"layers": (8, 3)}, messages.LAYERS_NOT_DIVISIBLE),
        ({"layers": ()}, messages.LAYERS_NOT_POSITIVE.format(value="()")),
        ({"layers": (8, 0)}, messages.LAYERS_NOT_POSITIVE.format(value="(8, 0)")),
        ({"output": "slope"}, messages.OUTPUT),
        ({"observation_noise": -1}, messages.OBSERVATION_NOISE.format(value=-1)),
        ({"observation_noise": 1e12}, messages.NOT_CONVERGED),
        ({"state_noise": (1.0, 2.0)}, messages.STATE_NOISE),
        ({"observation": np.ones((5, 8))}, messages.OBSERVATION_SHAPE.format(shape="(5, 8)")),
        ({"observation": np.ones((8, 0))}, messages.OBSERVATION_SHAPE.format(shape="(8, 0)")),
        ({"observation": np.ones(8)}, messages.OBSERVATION_SHAPE.format(shape="(8,)")),
        ({"observation": 1.0}, messages.OBSERVATION_SHAPE.format(shape="()")),
        ({"observation": "H"}, messages.OBSERVATION_TYPE.format(kind="str")),
        ({"observation": [[1.0], [1.0, 2.0]]}, messages.OBSERVATION_TYPE.format(kind="list")),
        ({"observation": np.full((8, 8), np.nan)}, messages.OBSERVATION_NOT_FINITE),
        ({"observation": np.ones((8, 6)), "layers": (8, 4)}, messages.LAYERS_OF_OBSERVATION),
    ],
)
def test_bad_parameters_are_rejected(parameters, message):
    with pytest.raises(InputError) as raised:
        HierarchicalLinearDynamics(**parameters).fit(np.zeros((5, 8)))
    assert str(raised.value) == message


# --- observation matrix -------------------------------------------------------------------------


@given(
    layer_sizes(),
    st.integers(-8, 4),
    st.sampled_from([0.01, 1.0, 50.0]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_any_observation_matrix_gives_the_literal_filter(layers, n_more, factor, own, seed):
    rng = np.random.default_rng(seed)
    n_columns = max(1, layers[0] + n_more)
    H = np.eye(n_columns, layers[0]) + 0.3 * rng.normal(size=(n_columns, layers[0]))
    noise = rng.uniform(0.5, 5.0, size=len(layers)) if own else None
    # The covariance of states that are not observed grows and takes digits from the literal filter.
    Y = wandering(60 if n_more >= 0 else 12, n_columns, seed)
    expected = oracles.hierarchical_states(Y, layers, factor, noise, H)
    scale = max(1.0, np.abs(expected).max())
    top, n_level = layers[-1], layers[0]
    parts = {"all": expected, "top": expected[:, :top], "level": expected[:, -n_level:]}
    for output, values in parts.items():
        model = HierarchicalLinearDynamics(layers, output, factor, noise, observation=H)
        found = model.fit_transform(Y)
        np.testing.assert_allclose(found, values, rtol=0, atol=1e-9 * scale)
        assert len(model.get_feature_names_out()) == found.shape[1]
        assert (model.n_features_in_, model.layers_) == (n_columns, layers)


@given(layer_sizes(), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_the_identity_as_matrix_gives_the_chains(layers, seed):
    Y = wandering(80, layers[0], seed)
    chains = HierarchicalLinearDynamics(layers, "all").fit(Y)
    states = HierarchicalLinearDynamics(layers, "all", observation=np.eye(layers[0])).fit(Y)
    assert chains.observation_ is None
    np.testing.assert_allclose(states.transform(Y), chains.transform(Y), rtol=0, atol=1e-9)


@given(st.lists(st.integers(0, 60), max_size=8), st.sampled_from(["top", "level", "all"]))
@settings(max_examples=30, deadline=None)
def test_blocks_change_nothing_with_an_observation_matrix(lengths, output):
    H = np.random.default_rng(0).normal(size=(5, 4))
    Y = wandering(300, 5)
    model = HierarchicalLinearDynamics((4, 2, 1), output, 3.0, observation=H).fit(Y)
    pieces = np.vstack([*model.transform_blocks(cut(Y, lengths))])
    np.testing.assert_array_equal(pieces, model.transform(Y))
    assert model.transform(np.empty((0, 5))).shape == (0, len(model.get_feature_names_out()))


def test_default_layers_are_those_of_the_states():
    model = HierarchicalLinearDynamics(observation=np.ones((3, 96))).fit(np.zeros((2, 3)))
    assert model.layers_ == (96, 24, 12)
    assert model.observation_noise_ == 3.0


def test_unobserved_states_are_filtered_too():
    Y = wandering(500, 2)
    expected = oracles.hierarchical_states(Y, (4, 2), H=np.eye(2, 4))
    model = HierarchicalLinearDynamics((4, 2), "all", observation=np.eye(2, 4))
    np.testing.assert_allclose(model.fit_transform(Y), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("observation", [None, [[1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.5]]])
def test_a_saved_model_gives_the_same_states(tmp_path, observation):
    Y = wandering(50, 2)
    model = HierarchicalLinearDynamics(output="all", observation=observation).fit(Y)
    save_model(model, tmp_path / "layers.kernova")
    loaded = load_model(tmp_path / "layers.kernova")
    np.testing.assert_array_equal(loaded.transform(Y), model.transform(Y))
    assert repr(loaded) == repr(model)


def test_a_model_from_before_the_observation_matrix_still_works():
    Y = wandering(50, 8)
    model = HierarchicalLinearDynamics().fit(Y)
    expected = model.transform(Y)
    for name in ("observation", "observation_"):
        del vars(model)[name]
    np.testing.assert_array_equal(model.transform(Y), expected)
    assert model.get_params()["observation"] is None
    np.testing.assert_array_equal(clone(model).fit_transform(Y), expected)
