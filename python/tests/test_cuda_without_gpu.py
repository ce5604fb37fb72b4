# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Python alone decides of arrays in CUDA memory, where there is no GPU: arrays that only describe themselves, and a
binding that notes what it is asked. That filters are right is for test_cuda_arrays.py, which needs a GPU."""
import numpy as np
import pytest

import videoconvolve
from videoconvolve import _kernels, arrays, cuda_memory


class Described:
    """Says that it is in CUDA memory at an address, where nothing is."""

    def __init__(self, shape, dtype=np.uint8, strides=None, address=4096, **more):
        self.__cuda_array_interface__ = {"version": 3, "shape": shape, "typestr": np.dtype(dtype).str, "strides": strides,
                                         "data": (address, False), **more}


class Binding:
    have_cuda = True

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, arguments)) or 0


@pytest.fixture
def binding(monkeypatch):
    noted = Binding()
    monkeypatch.setattr(arrays, "_kernels", noted)
    monkeypatch.setattr(cuda_memory, "_kernels", noted)
    return noted


@pytest.mark.skipif(_kernels.have_cuda, reason="this build has the CUDA backend")
def test_a_build_without_cuda_says_so():
    with pytest.raises(RuntimeError, match="nvcc"):
        videoconvolve.filter2d(Described((8, 8)), [[1]])
    with pytest.raises(RuntimeError, match="nvcc"):
        videoconvolve.cuda_array(None, None)


def test_streams_are_those_that_the_interface_names(binding):
    videoconvolve.filter2d(Described((8, 8), stream=7), [[1]], out=Described((8, 8), address=8192, stream=9))
    assert [(name, arguments[1:]) for name, arguments in binding.calls if name == "order_streams"] == [
        ("order_streams", (9, 7)), ("order_streams", (7, 9))]
    filtered = next(arguments for name, arguments in binding.calls if name == "filter_cuda_frames")
    assert filtered[:8] == (4096, [0, 8, 1, 1], 8192, [0, 8, 1, 1], (1, 8, 8, 1), False, "uint8", 7)


@pytest.mark.parametrize("shape, strides, planar", [
    ((8, 8, 3), (24, 3, 1), False), ((8, 8, 3), (100, 3, 1), False), ((8, 8, 3), (-24, 3, 1), False),
    ((8, 8, 3), (8, 1, 64), True), ((8, 1, 3), (3, 99, 1), False), ((8, 8, 1), (8, 1, 77), False)])
def test_interleaved_components_and_planes_are_told_apart(binding, shape, strides, planar):
    out = Described(shape, strides=strides, address=1 << 20)
    assert videoconvolve.filter2d(Described(shape, strides=strides), [[1]], out=out) is out
    assert next(arguments for name, arguments in binding.calls if name == "filter_cuda_frames")[5] is planar


@pytest.mark.parametrize("image, out, error, names", [
    (Described((8, 8)), np.zeros((8, 8), np.uint8), TypeError, "out is in host memory"),
    (np.zeros((8, 8), np.uint8), Described((8, 8)), TypeError, "frames are in host memory"),
    (Described((8, 8), np.int16), None, TypeError, "int16"),
    (Described((8, 8), np.dtype(">u2")), None, TypeError, ">u2"),
    (Described((3, 80, 60)), None, ValueError, "permute"),
    (Described((8, 8), strides=(16, 2)), None, ValueError, "ascontiguousarray"),
    (Described((8, 8), np.uint16, strides=(17, 2)), None, ValueError, "multiple"),
    (Described((8, 8)), Described((8, 8), address=4100), ValueError, "shares memory"),
    (Described((8, 8)), Described((8, 8), strides=(0, 1), address=1 << 20), ValueError, "share memory"),
    (Described((8, 8)), Described((8, 9), address=1 << 20), ValueError, "(8, 8)"),
    (Described((8, 8, 3)), Described((8, 8, 3), strides=(8, 1, 64), address=1 << 20), ValueError, "interleaved"),
    (Described((8, 8), stream=0), None, ValueError, "stream 0"),
    (Described((8, 8), mask=object()), None, ValueError, "mask")])
def test_errors_name_what_is_wrong(binding, image, out, error, names):
    with pytest.raises(error) as raised:
        videoconvolve.filter2d(image, [[1]], out=out)
    assert names in str(raised.value)


def test_a_kernel_in_cuda_memory_is_refused(binding):
    with pytest.raises(TypeError, match="kernel.get"):
        videoconvolve.filter2d(np.zeros((8, 8), np.uint8), Described((3, 3)))


def test_device_array_tells_what_it_is():
    array = videoconvolve.DeviceArray(4096, (4, 5), (8, 1), np.uint8, 1, owner=object(), readonly=True, stream=7)
    assert array.__cuda_array_interface__ == {"version": 3, "shape": (4, 5), "strides": (8, 1), "typestr": "|u1",
                                              "data": (4096, True), "stream": 7}
    assert array.__dlpack_device__() == (2, 1)
    with pytest.raises(BufferError, match="may only be read"):
        array.__dlpack__()
    with pytest.raises(BufferError, match="no copies"):
        array.__dlpack__(copy=True)
    with array:
        pass
    with pytest.raises(RuntimeError, match="released"):
        array.address
