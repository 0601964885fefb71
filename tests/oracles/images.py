"""Features of images, written down as their definitions: one pixel, one cell at a time."""

import math
from collections import Counter

import numpy as np


def orientation_shares(a: float, b: float, bins: int, signed: bool) -> dict[int, float]:
    """Return how a gradient's magnitude is shared: to each bin by its distance in the angle."""
    turn = 2 * math.pi if signed else math.pi
    width = turn / bins
    shares = {}
    for k in range(bins):
        apart = abs(math.atan2(b, a) - k * width) % turn
        apart = min(apart, turn - apart)
        if apart < width:
            shares[k] = math.hypot(a, b) * (1 - apart / width)
    return shares


def differences(image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return central differences of an image that goes on as it ends."""
    h, w = image.shape
    gx, gy = np.zeros((h, w)), np.zeros((h, w))
    for y in range(h):
        for x in range(w):
            gx[y, x] = (image[y, min(x + 1, w - 1)] - image[y, max(x - 1, 0)]) / 2
            gy[y, x] = (image[min(y + 1, h - 1), x] - image[max(y - 1, 0), x]) / 2
    return gx, gy


def cell_sums(gx, gy, cells, bins: int, signed: bool) -> np.ndarray:
    """Return the energies of each cell and orientation."""
    sums = np.zeros((len(cells), bins))
    for c, (top, bottom, left, right) in enumerate(cells):
        for y in range(top, bottom):
            for x in range(left, right):
                for k, share in orientation_shares(gx[y, x], gy[y, x], bins, signed).items():
                    sums[c, k] += share
    return sums


def sift(image: np.ndarray, patch: int, top: int, left: int) -> np.ndarray:
    """Return the SIFT descriptor of one patch, before it is rounded; no blur, no threshold."""
    gx, gy = differences(image)
    side = patch / 4
    values = np.zeros((4, 4, 8))
    for r in range(4):
        for c in range(4):
            # Centres of pixels are at whole numbers: a patch ends half a pixel before its first.
            centre_y = top - 0.5 + (r + 0.5) * side
            centre_x = left - 0.5 + (c + 0.5) * side
            from_middle = ((r - 1.5) ** 2 + (c - 1.5) ** 2) * side**2
            weight = math.exp(-from_middle / (2 * (2 * side) ** 2))
            for y in range(image.shape[0]):
                for x in range(image.shape[1]):
                    near = max(0, 1 - abs(y - centre_y) / side)
                    near *= max(0, 1 - abs(x - centre_x) / side)
                    for k, share in orientation_shares(gx[y, x], gy[y, x], 8, True).items():
                        values[r, c, k] += weight * near * share
    unit = values.ravel() / np.linalg.norm(values)
    cut = np.minimum(unit, 0.2)
    return cut / np.linalg.norm(cut)


def ridges(gx, gy) -> np.ndarray:
    """Return where the magnitude peaks along the gradient, between neighbours linearly."""
    magnitude = np.hypot(gx, gy)
    h, w = magnitude.shape
    found = np.zeros((h, w), bool)
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            if magnitude[y, x] == 0:
                continue
            # The point ahead is where the gradient's ray meets the ring of the eight neighbours.
            reach = max(abs(gx[y, x]), abs(gy[y, x]))
            dx, dy = gx[y, x] / reach, gy[y, x] / reach
            ahead = bilinear(magnitude, y + dy, x + dx)
            behind = bilinear(magnitude, y - dy, x - dx)
            found[y, x] = magnitude[y, x] > behind and magnitude[y, x] >= ahead
    return found


def bilinear(values: np.ndarray, y: float, x: float) -> float:
    """Return the value between four pixels."""
    total = 0.0
    for row in {math.floor(y), math.ceil(y)}:
        for column in {math.floor(x), math.ceil(x)}:
            total += (1 - abs(y - row)) * (1 - abs(x - column)) * values[row, column]
    return total


def connected(strong: np.ndarray, weak: np.ndarray) -> np.ndarray:
    """Return the weak pixels that weak pixels connect to a strong one, diagonals included."""
    found = strong & weak
    queue = list(zip(*np.nonzero(found), strict=True))
    while queue:
        y, x = queue.pop()
        for v in range(max(y - 1, 0), min(y + 2, len(weak))):
            for u in range(max(x - 1, 0), min(x + 2, weak.shape[1])):
                if weak[v, u] and not found[v, u]:
                    found[v, u] = True
                    queue.append((v, u))
    return found


def words_by_cell(words, places, n_words: int, divisions) -> np.ndarray:
    """Return the counts of words in each cell of a pyramid, of one image."""
    histogram = []
    for g in divisions:
        counts = Counter()
        for word, (y, x) in zip(words, places, strict=True):
            counts[min(int(y * g), g - 1), min(int(x * g), g - 1), word] += 1
        histogram += [
            counts[row, column, word]
            for row in range(g)
            for column in range(g)
            for word in range(n_words)
        ]
    return np.array(histogram)
