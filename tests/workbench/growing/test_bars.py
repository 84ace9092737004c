"""Long bars: batches added with kills in between, and the bound over many simulated batches."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom

from kernova import CategoryDiscovery
from kernova.tables.table import Table
from kernova.workbench.growing.judging import judge_batch
from tests.workbench.growing.tables import COLUMNS, points

ROOT = Path(__file__).parents[3]
N_FIRST, N_ROWS, N_NEW, N_BATCHES = 200, 60, 5, 20


@pytest.mark.soak
def test_batches_survive_kills(tmp_path, long_bar):
    n_batches = long_bar(20)
    run = subprocess.run(
        [sys.executable, "-m", "tests.workbench.growing.killed_batches", str(tmp_path),
         str(n_batches)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=3600,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    counts = json.loads(run.stdout)
    print(counts)
    assert counts["batches"] == n_batches
    if n_batches >= 10:  # of few batches, chance may let all be added undisturbed
        assert counts["while adding"] >= n_batches // 2


def _table(rows, ids):
    return Table(pd.DataFrame(rows, columns=COLUMNS), pd.Series(ids, name="id"), None, "rows.csv")


def _grown(seed, n_batches, has_new):
    """Add batches to a project one after the other; give what was called new, truly and falsely."""
    rng = np.random.default_rng(seed)
    rows, _ = points(rng, N_FIRST)
    outcomes = []
    for number in range(n_batches):
        n_new = N_NEW if has_new and number % 2 == 0 else 0
        center = rng.choice([-1, 1], 3) * rng.uniform(12, 40, 3)
        new, groups = points(rng, N_ROWS, n_new, center)
        order = rng.permutation(len(new))
        new, is_new = new[order], groups[order] == 3
        before, table = _table(rows, range(len(rows))), _table(new, range(len(new)))
        judged = judge_batch(CategoryDiscovery("random").start(rows), before, table, new)
        found = np.zeros(len(new), dtype=bool)
        found[judged.unlike] = True
        outcomes.append(
            (int((found & ~is_new).sum()), judged.chance.most, int((found & is_new).sum()), n_new)
        )
        rows = np.vstack([rows, new])
    return outcomes


@pytest.mark.soak
def test_the_bound_holds_with_and_without_new_categories(long_bar):
    """At most one in twenty batches may exceed what is stated, whatever else is in them."""
    n_projects = max(2, long_bar(200) // N_BATCHES)
    n_batches = N_BATCHES if n_projects > 2 else N_BATCHES // 2
    for has_new in (False, True):
        outcomes = [
            one for seed in range(n_projects // 2) for one in _grown(seed, n_batches, has_new)
        ]
        n_above = sum(n_false > most for n_false, most, _, _ in outcomes)
        n_all = len(outcomes)
        low = beta.ppf(0.025, n_above, n_all - n_above + 1) if n_above else 0.0
        high = beta.ppf(0.975, n_above + 1, n_all - n_above)
        print(
            f"{'with' if has_new else 'without'} new categories: {n_above} of {n_all} batches "
            f"above the stated number ({low:.3f} to {high:.3f}); "
            f"{sum(one[0] for one in outcomes)} false of {n_all * N_ROWS} ordinary rows, "
            f"{sum(one[2] for one in outcomes)} of {sum(one[3] for one in outcomes)} new ones found"
        )
        assert n_above <= binom.ppf(0.999, n_all, 0.05)
        if has_new:
            assert sum(one[2] for one in outcomes) >= 0.8 * sum(one[3] for one in outcomes)
