# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""filter2d and filter3d against SciPy, OpenCV and exact fractions."""
from fractions import Fraction

import cv2
import numpy as np
import pytest
import scipy.ndimage

import videoconvolve

MODES = {"constant": "constant", "replicate": "nearest", "reflect": "reflect", "reflect-101": "mirror", "wrap": "wrap"}


def random(shape, dtype, seed=1):
    generator = np.random.default_rng(seed)
    if dtype == np.float32:
        return generator.random(shape, dtype)
    return generator.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def expected(frames, kernel, mode):
    """The correlation in double precision, to nearest with ties to even, clamped to the dtype."""
    sums = scipy.ndimage.correlate(frames.astype(float), kernel, mode=MODES[mode])
    if frames.dtype == np.float32:
        return sums
    return np.clip(np.rint(sums), 0, np.iinfo(frames.dtype).max)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(1, 1), (3, 3), (5, 7), (2, 4), (15, 15)])
def test_filter2d_against_scipy(dtype, mode, size):
    image = random((37, 53), dtype)
    kernel = np.random.default_rng(2).normal(size=size) / size[0] / size[1]
    got = videoconvolve.filter2d(image, kernel, border_mode=mode)
    assert got.dtype == dtype
    tolerance = 1e-5 if dtype == np.float32 else 1
    np.testing.assert_allclose(got.astype(float), expected(image, kernel, mode), rtol=0, atol=tolerance)


@pytest.mark.parametrize("components", [1, 2, 3, 4])
def test_components_are_filtered_each_alone(components):
    image = random((31, 29, components), np.uint8)
    kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]])
    got = videoconvolve.filter2d(image, kernel, normalize=True)
    for c in range(components):
        np.testing.assert_array_equal(got[..., c], expected(image[..., c], kernel / 16, "replicate"))


@pytest.mark.parametrize("mode", ["replicate", "reflect", "reflect-101", "wrap"])
def test_filter3d_against_scipy(mode):
    frames = random((9, 21, 33), np.uint8)
    kernel = np.random.default_rng(3).integers(-4, 5, (3, 3, 5))
    got = videoconvolve.filter3d(frames, kernel, scale=1 / 16, border_mode=mode)
    np.testing.assert_array_equal(got, expected(frames, kernel / 16, mode))


@pytest.mark.parametrize("components", [1, 3, 4])
def test_against_opencv(components):
    image = random((64, 80, components), np.uint8)
    kernel = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])
    theirs = cv2.filter2D(image, -1, kernel.astype(np.float32), borderType=cv2.BORDER_REFLECT_101).reshape(image.shape)
    np.testing.assert_array_equal(videoconvolve.filter2d(image, kernel, border_mode="reflect-101"), theirs)


def test_fractions_round_exact_ties_to_even():
    image = np.array([[1, 178, 116, 129, 239, 12]], np.uint8)
    got = videoconvolve.filter2d(image, [[Fraction(1, 6)] * 6], border_mode="wrap")
    assert int(image.sum()) == 675  # 112.5, a tie
    np.testing.assert_array_equal(got, np.full((1, 6), 112))


def test_convolve_flips_and_bias_lifts():
    image = np.zeros((5, 5), np.uint8)
    image[2, 2] = 1
    kernel = np.arange(9).reshape(3, 3)
    np.testing.assert_array_equal(videoconvolve.filter2d(image, kernel, operation="convolve")[1:4, 1:4], kernel)
    np.testing.assert_array_equal(videoconvolve.filter2d(image, kernel)[1:4, 1:4], kernel[::-1, ::-1])
    assert (videoconvolve.filter2d(np.zeros_like(image), kernel, bias=0.5) == 128).all()  # 127.5, to even


def test_ten_bits_are_clamped_to_ten_bits():
    image = np.full((4, 4), 1023, np.uint16)
    assert (videoconvolve.filter2d(image, [[2]], bits=10) == 1023).all()


@pytest.mark.parametrize("view", [lambda a: a[::-1], lambda a: a[::2], lambda a: a[:, ::-1], lambda a: a[:, 3:-5],
                                  lambda a: np.asfortranarray(a), lambda a: a.T])
def test_views_are_what_their_copies_are(view):
    image = view(random((40, 48), np.uint16))
    kernel = np.ones((3, 3), int)
    np.testing.assert_array_equal(videoconvolve.filter2d(image, kernel, normalize=True),
                                  videoconvolve.filter2d(image.copy(), kernel, normalize=True))


def test_input_is_only_read_and_out_is_filled():
    image = random((16, 16), np.uint8)
    image.flags.writeable = False
    out = np.zeros_like(image)
    assert videoconvolve.filter2d(image, [[1]], out=out) is out
    np.testing.assert_array_equal(out, image)


@pytest.mark.parametrize("arguments, error, names", [
    (dict(image=np.zeros((4, 4), np.int32), kernel=[[1]]), TypeError, "int32"),
    (dict(image=np.zeros((4, 4, 5), np.uint8), kernel=[[1]]), ValueError, "5"),
    (dict(image=np.zeros((0, 4), np.uint8), kernel=[[1]]), ValueError, "0"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[1, 2]), ValueError, "rows, columns"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[["a"]]), TypeError, "'a'"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[1, 2], [3]]), (TypeError, ValueError), ""),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[float("nan")]]), ValueError, "nan"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[1]], border_mode="mirror"), ValueError, "reflect-101"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[1]], operation="blur"), ValueError, "correlate"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[1]], algorithm="tiled"), ValueError, "direct"),
    (dict(image=np.zeros((4, 4), np.uint16), kernel=[[1]], bits=17), ValueError, "17"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[1]], out=np.zeros((4, 5), np.uint8)), ValueError, "4, 4)"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[1]], out=[[0] * 4] * 4), TypeError, "list"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[1]], threads=-1), ValueError, "threads is -1"),
    (dict(image=np.zeros((4, 4), np.uint8), kernel=[[10 ** 400]]), ValueError, "largest float"),
])
def test_errors_name_what_is_wrong(arguments, error, names):
    with pytest.raises(error) as raised:
        videoconvolve.filter2d(**arguments)
    assert names in str(raised.value)


def test_out_may_not_be_read_only():
    image = random((8, 8), np.uint8)
    out = np.zeros_like(image)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="may only be read"):
        videoconvolve.filter2d(image, [[1]], out=out)


@pytest.mark.parametrize("tap, nearest", [(Fraction(1e-9), 1e-9), (Fraction(1, 3 * 10 ** 20), 0.0), (10 ** 20, 1e20),
                                          (Fraction(10 ** 30, 10 ** 30 + 1), 1.0), (-2 ** 63, -2.0 ** 63)])
def test_taps_of_more_than_64_bits_are_floats(tap, nearest):
    image = random((8, 8), np.float32)
    np.testing.assert_array_equal(videoconvolve.filter2d(image, [[tap, 1]]), videoconvolve.filter2d(image, [[nearest, 1.0]]))


def test_out_may_not_be_the_input():
    image = random((8, 8), np.uint8)
    with pytest.raises(ValueError, match="shares memory"):
        videoconvolve.filter2d(image, [[1]], out=image)


def test_threads_do_not_change_results():
    image = random((700, 500, 3), np.uint8)
    kernel = np.random.default_rng(4).normal(size=(7, 7)) / 20
    np.testing.assert_array_equal(videoconvolve.filter2d(image, kernel, threads=1),
                                  videoconvolve.filter2d(image, kernel, threads=4))
