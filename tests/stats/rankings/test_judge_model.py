from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from hengwen.stats.rankings.judge_model import (
    COEFFICIENT_PRECISION,
    DISCRIMINATION_PRECISION,
    JudgeDesign,
    fit_judge_model,
    information_of,
)

MODELS, JUDGES = 5, 3


def simulated(seed: int, battles: int) -> tuple[JudgeDesign, np.ndarray, np.ndarray, np.ndarray]:
    """Return a design with all cells and both positions, wins, battles, and the true parameters."""
    rng = np.random.default_rng(seed)
    strengths = np.linspace(1, -1, MODELS)
    discriminations, positions = np.array([1.6, 1.1, 0.3]), np.array([0.5, 0.0, -0.4])
    pairs = [(i, j) for i in range(MODELS) for j in range(i + 1, MODELS)]
    cells = [(judge, i, j) for judge in range(JUDGES) for i, j in pairs]
    judge, first, second = np.array(cells).T
    design = JudgeDesign(
        first=first,
        second=second,
        judge=judge,
        rows=np.full(len(cells), 2),
        covariates=np.tile([[1.0], [-1.0]], (len(cells), 1)),
        groups=np.zeros(MODELS, int),
        judges=JUDGES,
    )
    gap = (strengths[first] - strengths[second])[design.cell_of_row]
    row_judge = judge[design.cell_of_row]
    logit = discriminations[row_judge] * gap + positions[row_judge] * design.covariates[:, 0]
    counts = np.full(len(logit), float(battles))
    wins = rng.binomial(battles, 1 / (1 + np.exp(-logit))).astype(float)
    return design, wins, counts, np.concatenate([strengths, discriminations, positions])


def loss(parameters: np.ndarray, design: JudgeDesign, wins: np.ndarray, battles: np.ndarray) -> float:
    """Return the negative penalised log-likelihood, written row by row."""
    strengths = parameters[:MODELS]
    discriminations = parameters[MODELS : MODELS + JUDGES]
    positions = parameters[MODELS + JUDGES :]
    total = 0.0
    for row, cell in enumerate(design.cell_of_row):
        judge = design.judge[cell]
        logit = discriminations[judge] * (strengths[design.first[cell]] - strengths[design.second[cell]])
        logit += positions[judge] * design.covariates[row, 0]
        total += battles[row] * np.logaddexp(0, logit) - wins[row] * logit
    total += DISCRIMINATION_PRECISION / 2 * ((discriminations - 1) ** 2).sum()
    return float(total + COEFFICIENT_PRECISION / 2 * (positions**2).sum())


def test_the_fit_is_the_maximum_under_the_constraints() -> None:
    design, wins, battles, _ = simulated(0, 30)
    fitted = fit_judge_model(design, wins[:, None], battles[:, None])[0]
    constraints = [
        {"type": "eq", "fun": lambda p: p[:MODELS].sum()},
        {"type": "eq", "fun": lambda p: p[MODELS : MODELS + JUDGES].sum() - JUDGES},
    ]
    start = np.concatenate([np.zeros(MODELS), np.ones(JUDGES), np.zeros(JUDGES)])
    oracle = minimize(
        loss, start, (design, wins, battles), constraints=constraints, options={"maxiter": 500, "ftol": 1e-12}
    ).x
    assert fitted == pytest.approx(oracle, abs=2e-3)
    assert loss(fitted, design, wins, battles) <= loss(oracle, design, wins, battles) + 1e-4


def test_large_data_give_back_the_true_parameters() -> None:
    design, wins, battles, truth = simulated(1, 20_000)
    assert fit_judge_model(design, wins[:, None], battles[:, None])[0] == pytest.approx(truth, abs=0.05)


def test_sets_of_counts_are_fitted_as_if_one_by_one() -> None:
    design, wins, battles, _ = simulated(2, 50)
    factors = np.random.default_rng(0).integers(1, 4, (len(wins), 4)).astype(float)
    together = fit_judge_model(design, wins[:, None] * factors, battles[:, None] * factors)
    for factor, parameters in zip(factors.T, together, strict=True):
        alone = fit_judge_model(design, (wins * factor)[:, None], (battles * factor)[:, None])[0]
        assert parameters == pytest.approx(alone, abs=1e-5)


def test_the_information_is_the_second_derivative_of_the_likelihood() -> None:
    design, wins, battles, _ = simulated(3, 40)
    parameters = fit_judge_model(design, wins[:, None], battles[:, None])[0]
    information = information_of(design, parameters, battles)

    def expected_loss(values: np.ndarray) -> float:
        chance = np.empty(len(wins))
        for row, cell in enumerate(design.cell_of_row):
            judge = design.judge[cell]
            gap = parameters[design.first[cell]] - parameters[design.second[cell]]
            logit = parameters[MODELS + judge] * gap
            logit += parameters[MODELS + JUDGES + judge] * design.covariates[row, 0]
            chance[row] = 1 / (1 + np.exp(-logit))
        return loss(values, design, battles * chance, battles)

    step, index = 1e-3, [0, MODELS, MODELS + JUDGES]  # a strength, a discrimination, a coefficient
    for i in index[1:]:
        for j in index[:2]:
            units = np.eye(len(parameters)) * step
            corners = [
                sign * expected_loss(parameters + a * units[i] + b * units[j])
                for sign, a, b in ((1, 1, 1), (-1, 1, -1), (-1, -1, 1), (1, -1, -1))
            ]
            numeric = sum(corners) / (4 * step**2)
            constraint = 0.0
            if i == j == MODELS:  # the constraint of the sum of the discriminations
                constraint = information[MODELS, MODELS + 1]
            assert information[i, j] - constraint == pytest.approx(numeric, rel=1e-3, abs=1e-2)


def test_rows_without_battles_change_nothing() -> None:
    design, wins, battles, _ = simulated(4, 50)
    keep = design.judge[design.cell_of_row] != 0
    masked = fit_judge_model(design, (wins * keep)[:, None], (battles * keep)[:, None])[0]
    small = replace(
        design,
        first=design.first[design.judge != 0],
        second=design.second[design.judge != 0],
        judge=design.judge[design.judge != 0],
        rows=design.rows[design.judge != 0],
        covariates=design.covariates[keep],
    )
    alone = fit_judge_model(small, wins[keep][:, None], battles[keep][:, None])[0]
    assert masked == pytest.approx(alone, abs=1e-6)
