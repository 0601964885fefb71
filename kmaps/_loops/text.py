"""Parsing loops: rows of numbers in text, as ``.csv`` and svmlight files have them.

Numbers come out as Python's ``float`` reads them, correctly rounded: by one multiplication or
division where both factors are exact, otherwise by the leading 128 bits of a power of ten (D.
Lemire, "Number parsing at a gigabyte per second", 2021). What is not plain, and the few numbers
that 128 bits do not decide, is declined: then the whole text is somebody else's to read, or to
refuse with a reason.
"""

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

DECLINED = -1
LOWEST, HIGHEST = -307, 288  # powers of ten that times 1 … 2⁶⁴ - 1 give normal numbers
_MOST_DIGITS = 19  # of an integer that is less than 2⁶⁴
_EXACT_INTEGER, _EXACT_POWER = 2**53, 22  # and all below are float64
_LARGEST_EXPONENT = 10_000  # beyond any; the digits of more are not counted up
_COMPILED = {"cache": True, "nogil": True}


def _powers() -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Return the leading 128 bits of the powers of ten, rounded down, and what their last is worth.

    They are two numbers of 64 bits each, the upper first; the worth is that of the last bit of a
    product with a number of 64 bits once its lower 138 bits are dropped.
    """
    words, worth = [], []
    for power in range(LOWEST, HIGHEST + 1):
        shift = 0 if power >= 0 else 1300
        whole = 10**power if power >= 0 else (1 << shift) // 10**-power
        beyond = whole.bit_length() - 128
        leading = whole >> beyond if beyond >= 0 else whole << -beyond
        words.append((leading >> 64, leading & (2**64 - 1)))
        worth.append(2.0 ** (beyond - shift + 138))
    return np.array(words, np.uint64), np.array(worth)


_WORDS, _WORTH = _powers()
_TENS = 10.0 ** np.arange(_EXACT_POWER + 1)
_LOW = uint64(2**32 - 1)
_HALF = uint64(32)
_TOP = uint64(2**63)
_ONE = uint64(1)
_NONE = uint64(0)
_NINE = uint64(9)
_TEN = uint64(10)
_ZERO = uint64(48)


@njit(**_COMPILED)
def _product(a, b):
    """Return the upper and the lower 64 bits of the product of two numbers of 64 bits."""
    a1, a0, b1, b0 = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    low, one, other = a0 * b0, a1 * b0, a0 * b1
    middle = (low >> _HALF) + (one & _LOW) + (other & _LOW)
    upper = a1 * b1 + (one >> _HALF) + (other >> _HALF) + (middle >> _HALF)
    return upper, (middle << _HALF) | (low & _LOW)


@njit(**_COMPILED)
def _scaled(whole, power):
    """Return ``whole * 10**power`` (uint64, not 0), rounded once; NaN where that is not certain."""
    while whole >= _EXACT_INTEGER and whole % _TEN == _NONE:
        whole, power = whole // _TEN, power + 1
    if whole < _EXACT_INTEGER and -_EXACT_POWER <= power <= _EXACT_POWER:
        return whole * _TENS[power] if power >= 0 else whole / _TENS[-power]
    if power < LOWEST or power > HIGHEST:
        return np.nan
    worth = _WORTH[power - LOWEST]
    while whole < _TOP:
        whole, worth = whole << _ONE, 0.5 * worth
    # The upper 128 of the product's 192 bits; what the power lacks adds less than 2 to them.
    upper, lower = _product(whole, _WORDS[power - LOWEST, 0])
    carried, _ = _product(whole, _WORDS[power - LOWEST, 1])
    lower = lower + carried
    upper = upper + uint64(lower < carried)
    dropped = uint64(10)
    if upper >= _TOP:
        dropped, worth = uint64(11), 2.0 * worth
    rest = upper & ((_ONE << dropped) - _ONE)
    half = _ONE << (dropped - _ONE)
    if (rest == half and lower == _NONE) or (rest == half - _ONE and lower + uint64(2) < uint64(2)):
        return np.nan
    return ((upper >> dropped) + uint64(rest >= half)) * worth


@njit(**_COMPILED)
def _is_digit(byte):
    return 48 <= byte <= 57


@njit(**_COMPILED)
def _is_blank(byte):
    return byte == 32 or byte == 9


@njit(**_COMPILED)
def _skip_blanks(text, at):
    while _is_blank(text[at]):
        at += 1
    return at


@njit(**_COMPILED)
def _digits(text, at, whole):
    """Return a number (uint64) with further digits appended, and where these end."""
    while True:
        digit = uint64(text[at]) - _ZERO  # of what comes before the digits, a large number
        if digit > _NINE:
            return whole, at
        whole = _TEN * whole + digit
        at += 1


@njit(**_COMPILED)
def _exponent(text, at):
    """Return the exponent that starts after an e, and where it ends; DECLINED without digits."""
    negative = text[at] == 45
    at += text[at] == 45 or text[at] == 43
    if not _is_digit(text[at]):
        return 0, DECLINED
    exponent = 0
    while _is_digit(text[at]):
        exponent = min(10 * exponent + text[at] - 48, _LARGEST_EXPONENT)
        at += 1
    return -exponent if negative else exponent, at


@njit(**_COMPILED)
def number_at(text, at):
    """Return the number (float64) that starts at a place, and where it ends; DECLINED if none.

    ``text`` (uint8) ends with a line end, which ends every number.
    """
    negative = text[at] == 45
    at += text[at] == 45 or text[at] == 43
    first = at
    whole, at = _digits(text, at, _NONE)
    digits, power = at - first, 0
    if text[at] == 46:
        whole, end = _digits(text, at + 1, whole)
        power = at + 1 - end
        digits, at = digits - power, end
    if digits == 0:
        return 0.0, DECLINED
    if digits > _MOST_DIGITS:  # with the zeros that come first
        while text[first] == 48 or text[first] == 46:
            digits -= text[first] == 48
            first += 1
        if digits > _MOST_DIGITS:
            return 0.0, DECLINED
    if text[at] == 101 or text[at] == 69:
        exponent, at = _exponent(text, at + 1)
        power += exponent
    value = _scaled(whole, power) if whole != _NONE else 0.0
    if np.isnan(value):
        return 0.0, DECLINED
    return -value if negative else value, at


@njit(**_COMPILED)
def table_rows(text, is_number, values, ends):
    """Read rows of fields between commas; return how many, or DECLINED.

    Parameters
    ----------
    text : ndarray of uint8
        Lines without quotes, none of them blank, each with its line end.
    is_number : ndarray of bool, shape (fields,)
        Which fields are numbers; the others are text.
    values : ndarray of float64, shape (rows, numbers), written
    ends : ndarray of int64, shape (rows, texts, 2), written
        Where each text starts and ends.
    """
    at, row = 0, 0
    while at < text.size:
        n_numbers, n_texts = 0, 0
        for field in range(is_number.size):
            if is_number[field]:
                values[row, n_numbers], at = number_at(text, _skip_blanks(text, at))
                if at == DECLINED:
                    return DECLINED
                at = _skip_blanks(text, at)
                n_numbers += 1
            else:
                ends[row, n_texts, 0] = at
                while text[at] != 44 and text[at] != 10:
                    at += 1
                ends[row, n_texts, 1] = at
                n_texts += 1
            if text[at] != (44 if field + 1 < is_number.size else 10):
                return DECLINED
            at += 1
        row += 1
    return row


@njit(**_COMPILED)
def _index_at(text, at):
    """Return the digits before a colon as a number, and where what follows starts, or DECLINED."""
    index, first = 0, at
    while _is_digit(text[at]) and at - first < _MOST_DIGITS - 1:
        index = 10 * index + text[at] - 48
        at += 1
    return index, at + 1 if at > first and text[at] == 58 else DECLINED


@njit(**_COMPILED)
def _after_query(text, at):
    """Return where ``qid:number`` ends, if it starts here."""
    if text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
        return at
    at += 4
    if not _is_digit(text[at]):
        return DECLINED
    while _is_digit(text[at]):
        at += 1
    return _skip_blanks(text, at) if _is_blank(text[at]) or text[at] == 10 else DECLINED


@njit(**_COMPILED)
def sparse_rows(text, first, last, labels, indptr, indices, values):
    """Read lines ``label index:value … # comment``; return how many, or DECLINED.

    Parameters
    ----------
    text : ndarray of uint8
        Lines, none of them blank or without a label, each with its line end.
    first, last : int
        The least and the largest index that there may be; those of a line ascend.
    labels, indptr, indices, values : ndarray
        Labels (float64, finite), and CSR rows (int64, int32, float64) whose columns count from 0;
        written.
    """
    at, row, n = 0, 0, 0
    while at < text.size:
        labels[row], at = number_at(text, _skip_blanks(text, at))
        if at == DECLINED or not (_is_blank(text[at]) or text[at] == 10 or text[at] == 35):
            return DECLINED
        at = _after_query(text, _skip_blanks(text, at))
        if at == DECLINED:
            return DECLINED
        previous = first - 1
        while text[at] != 10 and text[at] != 35:
            index, at = _index_at(text, at)
            if at == DECLINED or index <= previous or index > last:
                return DECLINED
            values[n], at = number_at(text, at)
            if at == DECLINED or not (_is_blank(text[at]) or text[at] == 10 or text[at] == 35):
                return DECLINED
            indices[n] = index - first
            previous, n, at = index, n + 1, _skip_blanks(text, at)
        while text[at] != 10:
            at += 1
        row, at = row + 1, at + 1
        indptr[row] = n
    return row
