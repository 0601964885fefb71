"""Errors over ratios and differences, by maps whose inner products are known."""

import numpy as np
import pytest

from kmaps.bench.work.errors import Span, over_differences, over_ratios, parse_range
from kmaps.errors import ConfigError
from kmaps.kernels import KERNELS


class Root:
    """x ↦ √x: the hellinger kernel."""

    def fit(self, X):
        return self

    def transform(self, X):
        return np.sqrt(X)


class Wave:
    """Cosine and sine of one projection ω: the inner product is cos ω·(y - x)."""

    def __init__(self, *omega):
        self.omega = np.array(omega)

    def fit(self, X):
        self.low, self.high = X.min(), X.max()
        return self

    def transform(self, X):
        phase = X @ self.omega
        return np.stack([np.cos(phase), np.sin(phase)], axis=1)


def ones(lam):
    return np.ones_like(lam)


def test_ratios_against_the_closed_form():
    # The error is √t - 2t/(1+t) for t = x/y.
    t = np.linspace(1e-3, 1, 200_001)
    gap = np.sqrt(t) - 2 * t / (1 + t)
    result = over_ratios(Root(), KERNELS["chi2"], Span.parse("ratios 1:1000"))
    assert result.linf == pytest.approx(gap.max(), rel=1e-6)
    assert result.worst[0] == pytest.approx(1 / t[gap.argmax()], rel=1e-2)
    assert result.dim == 1
    beyond = over_ratios(Root(), KERNELS["chi2"], Span.parse("ratios 500:1000"))
    assert beyond.linf == pytest.approx(np.sqrt(1 / 500) - 2 / 501, rel=1e-6)


def test_relative_ratios():
    result = over_ratios(Root(), KERNELS["chi2"], Span.parse("ratios 1:100"), relative=True)
    # √t (1 + t) / 2t - 1, largest at the end: 10 · 1.01 / 2 - 1.
    assert result.linf == pytest.approx(4.05)


def test_two_inputs_have_differences_of_both_signs():
    half = Span("differences", 0, np.pi / 2)
    result = over_differences(Wave(1.0, -1.0), ones, half, inputs=2)
    # 1 - cos(λ₁ - λ₂) reaches 2 only where the two differences have opposite signs.
    assert result.linf == pytest.approx(2)
    assert np.abs(result.worst) == pytest.approx([np.pi / 2, np.pi / 2])
    assert np.prod(result.worst) < 0
    assert result.approximate.shape == (2, 401, 401)
    assert result.approximate[0, 400, 0] == pytest.approx(np.cos(np.pi / 2), abs=1e-9)


def test_exact_value_is_a_product_over_the_inputs():
    result = over_differences(
        Wave(0.0, 0.0), lambda lam: np.exp(-np.abs(lam)), Span("differences", 0, 2), inputs=2
    )
    assert result.exact[0, 100, 300] == pytest.approx(np.exp(-0.5) * np.exp(-1.5))
    assert result.exact[1, 0, 0] == pytest.approx(np.exp(-2))  # the other corner: λ = (0, -2)


def test_levels_are_all_that_counts():
    wave = Wave(2 * np.pi)
    assert over_differences(wave, ones, Span.parse("differences 0:3:4")).linf < 1e-9
    assert over_differences(wave, ones, Span.parse("differences 0:3")).linf == pytest.approx(2)
    assert (wave.low, wave.high) == (0, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ratios 0.5:2", "expected ratios LOW:HIGH with LOW at least 1"),
        ("ratios 1:2:3", "expected LOW:HIGH with LOW < HIGH"),
        ("differences 1:2", "expected differences 0:HIGH or 0:HIGH:LEVELS"),
        ("differences 0:2:1", "expected differences 0:HIGH or 0:HIGH:LEVELS"),
        ("differences", "expected LOW:HIGH"),
        ("ratio 1:2", "expected LOW:HIGH, ratios LOW:HIGH or differences 0:HIGH"),
        *((text, "expected LOW:HIGH with LOW < HIGH") for text in ("1", "2:1", "a:b", "0:inf", "")),
    ],
)
def test_bad_ranges_are_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_range(text)
