"""Random frequencies against the published generator, plain matrices and their distributions."""

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.sparse import csr_array
from scipy.stats import chi, kstest, norm

from kmaps._loops import fourier as loops
from kmaps.maps import frequencies
from kmaps.maps.frequencies import STRUCTURES, lengths, normals, words


def philox(counter, key):
    """Philox 4×32 with ten rounds, from the paper, on Python's integers."""
    (a, b, c, d), (k, j) = counter, key
    for _ in range(10):
        high_a, low_a = divmod(0xD2511F53 * a, 1 << 32)
        high_c, low_c = divmod(0xCD9E8D57 * c, 1 << 32)
        a, b, c, d = high_c ^ b ^ k, low_c, high_a ^ d ^ j, low_a
        k, j = (k + 0x9E3779B9) % (1 << 32), (j + 0xBB67AE85) % (1 << 32)
    return [a, b, c, d]


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0,) * 4, (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_oracle_gives_the_published_answers(counter, key, expected):
    """The known answers that come with the authors' Random123."""
    assert philox(counter, key) == [int(word, 16) for word in expected.split()]


@pytest.mark.parametrize("low", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize(
    ("dtype", "error"),  # measured: 9e-8, 4e-16
    [(np.float32, 2e-7), (np.float64, 1e-15)],
)
def test_cosines_and_sines_are_accurate_at_any_turn(low, dtype, error):
    turns = np.random.default_rng(0).uniform(-low, low, (7, 333)).astype(dtype)
    turns[0, :9] = np.arange(-4, 5) / 8  # the edges of the eighths
    out = np.empty((7, 666), dtype)
    assert not loops.cos_sin(turns, dtype(1), out)
    radians = 2 * np.pi * (turns - np.rint(turns)).astype(float)
    np.testing.assert_allclose(out[:, ::2], np.cos(radians), rtol=0, atol=error)
    np.testing.assert_allclose(out[:, 1::2], np.sin(radians), rtol=0, atol=error)


def frequencies_of(structure, d, indices, width=1.0, key=11):
    """The frequencies themselves, (m, d): what the rows of the identity are projected to."""
    made = STRUCTURES[structure](key, np.asarray(indices), d, width)
    parts = [project(np.eye(d)).T for _, _, project in made.blocks(np.float64)]
    return 2 * np.pi * np.vstack(parts)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("d", [1, 2, 3, 20, 64])
def test_frequencies_are_normal(structure, d):
    omega = frequencies_of(structure, d, np.arange(3000 // d * d + 1), width=0.5)
    assert kstest(omega.ravel() * 0.5, norm.cdf).pvalue > 0.005
    assert kstest(np.linalg.norm(omega, axis=1) * 0.5, chi(d).cdf).pvalue > 0.005
    covariance = omega.T @ omega / len(omega) / 4
    assert np.abs(covariance - np.eye(d)).max() < 7 / np.sqrt(len(omega))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_any_subset_is_made_by_itself(structure, monkeypatch):
    whole = frequencies_of(structure, 12, np.arange(100))
    some = np.array([3, 12, 13, 50, 99])
    np.testing.assert_allclose(frequencies_of(structure, 12, some), whole[some], atol=1e-6)
    monkeypatch.setattr(frequencies, "_BLOCK_VALUES", 12 * 7)
    np.testing.assert_allclose(frequencies_of(structure, 12, np.arange(100)), whole, atol=1e-12)
    assert np.abs(frequencies_of(structure, 12, some, key=12) - whole[some]).max() > 0.5


def test_orthogonal_frequencies_are_orthogonal_in_groups():
    omega = frequencies_of("orthogonal", 8, np.arange(20))
    products = omega @ omega.T / np.outer(*[np.linalg.norm(omega, axis=1)] * 2)
    group = np.arange(20) // 8
    same = group[:, None] == group
    np.testing.assert_allclose(products[same], np.eye(20)[same], atol=1e-6)
    assert np.abs(products[~same]).max() > 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fastfood_is_the_product_of_its_matrices(dtype):
    d, p, key = 21, 32, 5
    indices = np.array([0, 3, 31, 32, 70])
    X = np.random.default_rng(1).standard_normal((37, d)).astype(dtype)  # 16 at once, and 5
    expected = []
    for stack in range(3):
        row = np.array([stack])
        H, B = hadamard(p), np.diag(1 - 2.0 * (words(key, 3, row, p)[0] >> 31))
        P = np.eye(p)[np.argsort(words(key, 4, row, p)[0], kind="stable")]
        g = normals(key, 2, row, p)[0].astype(float)
        S = np.diag(lengths(key, np.arange(p) + p * stack, p) / np.linalg.norm(g))
        expected.append(S @ H @ np.diag(g) @ P @ H @ B / np.sqrt(p))
    V = np.vstack(expected)[indices, :d]
    made = STRUCTURES["fastfood"](key, indices, d, 1.0)
    ((first, last, project),) = made.blocks(dtype)
    assert (first, last) == (0, 5)
    tolerance = 1e-12 if dtype == np.float64 else 2e-6  # measured 3e-7
    np.testing.assert_allclose(project(X) * 2 * np.pi, X @ V.T, atol=tolerance * 10)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("density", [0.01, 0.5])
def test_sparse_rows_have_the_turns_of_dense_ones(structure, density):
    rng = np.random.default_rng(2)
    X = rng.random((30, 200)) * (rng.random((30, 200)) < density)
    made = STRUCTURES[structure](1, np.arange(40), 200, 1.0)
    for _, _, project in made.blocks(np.float64):
        np.testing.assert_allclose(project(csr_array(X)), project(X), atol=1e-12)
