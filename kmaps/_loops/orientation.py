"""Oriented gradients: energies of each pixel, their sums over cells, SIFT's windowed bins, edges.

An image is (h, w); its energies are (h, w, orientations), the last axis contiguous so that the
sums over pixels are vector operations. Angles are ``atan2(gy, gx)`` with y pointing down; bin k of
O is centred on k / O of a turn, or of half a turn where opposite gradients count as one.
"""

from math import atan2, pi, sqrt

from numpy import float32, zeros

from kmaps._loops.compiling import loop


@loop()
def share_out(gx, gy, signed, out):
    """Fill ``out`` (n, h, w, O): each gradient's magnitude, shared by the two nearest bins.

    Linear in the angle, so that the bins of a pixel sum to its magnitude.
    """
    n, h, w, bins = out.shape
    per_radian = bins / (2 * pi if signed else pi)
    out[:] = 0
    for i in range(n):
        for y in range(h):
            for x in range(w):
                a = gx[i, y, x]
                b = gy[i, y, x]
                magnitude = sqrt(a * a + b * b)
                if magnitude == 0:
                    continue
                # A turn more keeps the position positive, so that int rounds it down.
                position = (atan2(b, a) + 2 * pi) * per_radian
                k = int(position)
                upper = magnitude * float32(position - k)
                out[i, y, x, k % bins] += magnitude - upper
                out[i, y, x, (k + 1) % bins] += upper


@loop()
def sum_cells(energies, cells, out):
    """Fill ``out`` (n, cells, O) with the sums of energies (n, h, w, O) over rectangles.

    ``cells`` is (cells, 4): top, bottom, left, right, the ends excluded.
    """
    n, _, _, bins = energies.shape
    out[:] = 0
    for i in range(n):
        for c in range(len(cells)):
            total = out[i, c]
            for y in range(cells[c, 0], cells[c, 1]):
                for x in range(cells[c, 2], cells[c, 3]):
                    for k in range(bins):
                        total[k] += energies[i, y, x, k]


@loop()
def smooth(energies, bins, weights, out):
    """Convolve along both axes: ``weights[t]`` times the value t pixels ahead, summed over t.

    The arrays are (h, w * bins); ``out[y, x * bins + k]`` is the window that begins at pixel
    (y, x), cut where the image ends. Inner loops run over contiguous views, as vector operations.
    """
    down = zeros(energies.shape[1], float32)
    for y in range(len(out)):
        down[:] = 0
        for t in range(min(len(weights), len(out) - y)):
            weight = weights[t]
            ahead = energies[y + t]
            for j in range(len(down)):
                down[j] += weight * ahead[j]
        both = out[y]
        both[:] = 0
        for t in range(len(weights)):
            weight = weights[t]
            ahead = down[t * bins :]
            for j in range(len(ahead)):
                both[j] += weight * ahead[j]


@loop()
def gather_sift(smoothed, tops, lefts, step, envelope, contrast, out):
    """Fill ``out`` (m, 16 * O), uint8, with the SIFT descriptors of m patches of 4 × 4 cells.

    ``smoothed`` (h, w, O) is what :func:`smooth` leaves, ``tops`` and ``lefts`` (m,) are where the
    window of each patch's first cell begins, ``step`` pixels before the next; ``envelope`` (4, 4)
    has the weights of the cells. Descriptors with a norm up to ``contrast`` are set to zero.
    """
    bins = smoothed.shape[2]
    values = zeros(16 * bins, float32)
    for i in range(len(tops)):
        squares = float32(0)
        for c in range(16):
            weight = envelope[c // 4, c % 4]
            window = smoothed[tops[i] + c // 4 * step, lefts[i] + c % 4 * step]
            for k in range(bins):
                value = weight * window[k]
                values[c * bins + k] = value
                squares += value * value
        norm = sqrt(squares)
        if norm <= contrast:
            out[i] = 0
            continue
        squares = float32(0)
        for j in range(16 * bins):
            values[j] = min(values[j] / norm, float32(0.2))
            squares += values[j] * values[j]
        scale = float32(512) / sqrt(squares)
        for j in range(16 * bins):
            out[i, j] = int(min(values[j] * scale + float32(0.5), float32(255)))


@loop()
def thin(gx, gy, magnitude, out):
    """Mark in ``out`` (h, w), all False, the pixels where the magnitude peaks along the gradient.

    It is compared with the magnitudes one pixel ahead and one behind, interpolated between the two
    neighbours there. The outermost pixels are no peaks. Of two equal neighbours one is.
    """
    h, w = magnitude.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            a = gx[y, x]
            b = gy[y, x]
            here = magnitude[y, x]
            if here == 0:
                continue
            sx = 1 if a >= 0 else -1
            sy = 1 if b >= 0 else -1
            if abs(a) >= abs(b):
                weight = abs(b) / abs(a)
                ahead = (1 - weight) * magnitude[y, x + sx] + weight * magnitude[y + sy, x + sx]
                behind = (1 - weight) * magnitude[y, x - sx] + weight * magnitude[y - sy, x - sx]
            else:
                weight = abs(a) / abs(b)
                ahead = (1 - weight) * magnitude[y + sy, x] + weight * magnitude[y + sy, x + sx]
                behind = (1 - weight) * magnitude[y - sy, x] + weight * magnitude[y - sy, x - sx]
            out[y, x] = here > behind and here >= ahead
