# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""filter2d and filter3d on a GPU: CuPy's, PyTorch's and others' arrays against SciPy. Skipped where there is no GPU."""
import numpy as np
import pytest
import scipy.ndimage

import videoconvolve
from videoconvolve import _kernels

cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not _kernels.have_cuda or not torch.cuda.is_available():
    pytest.skip("this build has no CUDA backend, or this machine no GPU", allow_module_level=True)

MODES = {"constant": "constant", "replicate": "nearest", "reflect": "reflect", "reflect-101": "mirror", "wrap": "wrap"}
DTYPES = [np.uint8, np.uint16, np.float32]


class Interface:
    """An array of no known library, by the CUDA Array Interface alone."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


class Dlpack:
    """An array of no known library, by DLPack alone."""

    def __init__(self, array):
        self.array = array
        self.streams = []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream)


KINDS = {
    "cupy": (cupy.asarray, cupy.asnumpy),
    "torch": (lambda a: torch.from_numpy(a.copy()).cuda(), lambda a: a.cpu().numpy()),
    "interface": (lambda a: Interface(cupy.asarray(a)), lambda a: cupy.asnumpy(cupy.asarray(a))),
    "dlpack": (lambda a: Dlpack(cupy.asarray(a)), lambda a: torch.from_dlpack(a).cpu().numpy()),
}


def random(shape, dtype, seed=1):
    generator = np.random.default_rng(seed)
    if dtype == np.float32:
        return generator.random(shape, dtype)
    return generator.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def expected(frames, kernel, mode="replicate"):
    """The correlation in double precision, to nearest with ties to even, clamped to the dtype."""
    sums = scipy.ndimage.correlate(frames.astype(float), kernel, mode=MODES[mode])
    if frames.dtype == np.float32:
        return sums
    return np.clip(np.rint(sums), 0, np.iinfo(frames.dtype).max)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
def test_filter2d_against_scipy(kind, dtype, mode):
    to_gpu, to_host = KINDS[kind]
    image = random((61, 83), dtype)
    for size in ((1, 1), (3, 3), (5, 7), (2, 4), (15, 15), (1, 31)):
        kernel = np.random.default_rng(2).normal(size=size) / size[0] / size[1]
        got = to_host(videoconvolve.filter2d(to_gpu(image), kernel, border_mode=mode))
        assert got.dtype == dtype and got.shape == image.shape
        tolerance = 1e-5 if dtype == np.float32 else 1
        np.testing.assert_allclose(got.astype(float), expected(image, kernel, mode), rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", ["cupy", "torch"])
def test_results_are_of_the_same_kind_and_gpu(kind):
    to_gpu, _ = KINDS[kind]
    image = to_gpu(random((16, 16), np.uint8))
    result = videoconvolve.filter2d(image, [[1]])
    assert type(result) is type(image) and result.device == image.device


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("components", [1, 2, 3, 4])
@pytest.mark.parametrize("planar", [False, True])
def test_components_interleaved_and_as_planes(dtype, components, planar):
    image = random((47, 53, components), dtype)
    kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]])
    tensor = torch.from_numpy(image.transpose(2, 0, 1).copy()).cuda().permute(1, 2, 0) if planar else cupy.asarray(image)
    got = videoconvolve.filter2d(tensor, kernel, scale=1 / 16)
    if planar and components > 1:
        assert got.stride() == tensor.stride()
    got = got.cpu().numpy() if planar else cupy.asnumpy(got)
    tolerance = 1e-5 if dtype == np.float32 else 0
    for c in range(components):
        np.testing.assert_allclose(got[..., c].astype(float), expected(image[..., c], kernel / 16), rtol=0, atol=tolerance)


@pytest.mark.parametrize("mode", ["replicate", "reflect", "reflect-101", "wrap"])
@pytest.mark.parametrize("kind", KINDS)
def test_filter3d_against_scipy(kind, mode):
    to_gpu, to_host = KINDS[kind]
    frames = random((9, 21, 33), np.uint8)
    kernel = np.random.default_rng(3).integers(-4, 5, (3, 3, 5))
    got = to_host(videoconvolve.filter3d(to_gpu(frames), kernel, scale=1 / 16, border_mode=mode))
    np.testing.assert_array_equal(got, expected(frames, kernel / 16, mode))


def test_host_and_gpu_agree_to_the_bit_where_taps_are_integers():
    image = random((300, 401, 3), np.uint8)
    for size in (3, 5, 9, 31):
        kernel = np.random.default_rng(size).integers(-9, 10, (size, size))
        options = dict(scale=1 / 64, bias=0.25, border_mode="reflect")
        host = videoconvolve.filter2d(image, kernel, **options)
        np.testing.assert_array_equal(cupy.asnumpy(videoconvolve.filter2d(cupy.asarray(image), kernel, **options)), host)


@pytest.mark.parametrize("view", [lambda a: a[::-1], lambda a: a[::2], lambda a: a[:, 3:-5], lambda a: a[5:-7, 1:2]])
def test_views_are_what_their_copies_are(view):
    image = view(random((40, 48), np.uint16))
    got = videoconvolve.filter2d(view(cupy.asarray(random((40, 48), np.uint16))), np.ones((3, 3), int), normalize=True)
    np.testing.assert_array_equal(cupy.asnumpy(got), videoconvolve.filter2d(image.copy(), np.ones((3, 3), int), normalize=True))


def test_a_result_comes_after_what_the_current_stream_does():
    """The image is written on a stream that is busy for long; the default stream is not waited for."""
    image = random((512, 512), np.uint8)
    busy = cupy.random.random((6000, 6000), dtype=np.float32)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        on_gpu = cupy.zeros((512, 512), np.uint8)
        for _ in range(20):
            busy = busy @ busy * np.float32(1e-4)
        on_gpu[...] = cupy.asarray(image)
        result = videoconvolve.filter2d(on_gpu, [[1, 1, 1]], normalize=True)
        got = result.get(stream=stream)
    np.testing.assert_array_equal(got, videoconvolve.filter2d(image, [[1, 1, 1]], normalize=True))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        busy = torch.rand((6000, 6000), device="cuda")
        tensor = torch.zeros((512, 512), dtype=torch.uint8, device="cuda")
        for _ in range(20):
            busy = busy @ busy * 1e-4
        tensor.copy_(torch.from_numpy(image))
        result = videoconvolve.filter2d(tensor, [[1, 1, 1]], normalize=True).cpu().numpy()
    np.testing.assert_array_equal(result, videoconvolve.filter2d(image, [[1, 1, 1]], normalize=True))


def test_the_call_does_not_wait_for_the_gpu():
    tensor = torch.zeros((64, 64), dtype=torch.uint8, device="cuda")
    videoconvolve.filter2d(tensor, [[1]])
    torch.cuda.synchronize()
    torch.cuda._sleep(400_000_000)  # clock cycles: a fifth of a second
    done = torch.cuda.Event()
    videoconvolve.filter2d(tensor, [[1]])
    done.record()
    assert not done.query()
    torch.cuda.synchronize()


def test_many_kernels_and_streams_in_flight():
    """More than are kept: plans and streams give way while their work is queued."""
    image = random((240, 320), np.uint8)
    on_gpu = torch.from_numpy(image).cuda()
    torch.cuda.synchronize()
    kernels = [np.random.default_rng(i).integers(-3, 4, (5, 5)) for i in range(40)]
    streams = [torch.cuda.Stream() for _ in range(20)]
    results = []
    for i, kernel in enumerate(kernels * 2):
        with torch.cuda.stream(streams[i % len(streams)]):
            results.append(videoconvolve.filter2d(on_gpu, kernel, scale=1 / 8))
    torch.cuda.synchronize()
    for kernel, result in zip(kernels * 2, results):
        np.testing.assert_array_equal(result.cpu().numpy(), videoconvolve.filter2d(image, kernel, scale=1 / 8))


def test_out_of_another_library():
    image = random((33, 35), np.uint8)
    out = torch.zeros((33, 35), dtype=torch.uint8, device="cuda")
    assert videoconvolve.filter2d(cupy.asarray(image), [[0, 1, 1]], scale=0.5, out=out) is out
    np.testing.assert_array_equal(out.cpu().numpy(), videoconvolve.filter2d(image, [[0, 1, 1]], scale=0.5))


def test_device_array_gives_itself_to_both_libraries():
    image = random((33, 35), np.uint8)
    made = videoconvolve.filter2d(Interface(cupy.asarray(image)), [[1]])
    assert isinstance(made, videoconvolve.DeviceArray)
    by_cupy, by_torch, by_capsule = cupy.asarray(made), torch.from_dlpack(made), cupy.from_dlpack(made)
    assert by_cupy.data.ptr == by_torch.data_ptr() == by_capsule.data.ptr == made.address
    del made  # what came of it holds the memory
    cupy.cuda.runtime.deviceSynchronize()
    for got in (cupy.asnumpy(by_cupy), by_torch.cpu().numpy(), cupy.asnumpy(by_capsule)):
        np.testing.assert_array_equal(got, image)


def test_dlpack_is_asked_for_the_stream_that_is_used():
    source = Dlpack(cupy.asarray(random((8, 8), np.uint8)))
    videoconvolve.filter2d(source, [[1]])
    assert source.streams == [1]


IMAGE = cupy.zeros((8, 8), np.uint8)


@pytest.mark.parametrize("arguments, error, names", [
    (dict(image=IMAGE, kernel=[[1]], out=np.zeros((8, 8), np.uint8)), TypeError, "out is in host memory"),
    (dict(image=np.zeros((8, 8), np.uint8), kernel=[[1]], out=IMAGE), TypeError, "frames are in host memory"),
    (dict(image=IMAGE, kernel=cupy.ones((3, 3))), TypeError, "kernel.get"),
    (dict(image=cupy.zeros((8, 8), np.int32), kernel=[[1]]), TypeError, "int32"),
    (dict(image=torch.zeros((8, 8), dtype=torch.float16, device="cuda"), kernel=[[1]]), TypeError, "float16"),
    (dict(image=torch.zeros((8, 8), device="cuda", requires_grad=True), kernel=[[1]]), TypeError, "detach"),
    (dict(image=torch.zeros((3, 80, 60), device="cuda"), kernel=[[1]]), ValueError, "permute"),
    (dict(image=IMAGE[:, ::2], kernel=[[1]]), ValueError, "ascontiguousarray"),
    (dict(image=IMAGE.T, kernel=[[1]]), ValueError, "ascontiguousarray"),
    (dict(image=IMAGE, kernel=[[1]], out=IMAGE), ValueError, "shares memory"),
    (dict(image=IMAGE, kernel=[[1]], out=cupy.zeros((8, 9), np.uint8)), ValueError, "(8, 8)"),
    (dict(image=IMAGE, kernel=[[1]], out=cupy.broadcast_to(cupy.zeros(8, np.uint8), (8, 8))), ValueError, "share memory"),
    (dict(image=Interface(IMAGE, stream=0), kernel=[[1]]), ValueError, "stream 0"),
    (dict(image=Interface(IMAGE, data=(np.zeros(99).ctypes.data, False)), kernel=[[1]]), ValueError, "not in CUDA memory"),
    (dict(image=IMAGE, kernel=[[1]], algorithm="direct"), ValueError, "cached-halo"),
    (dict(image=IMAGE, kernel=[[1]], border_mode="mirror"), ValueError, "reflect-101"),
    (dict(image=IMAGE, kernel=np.random.default_rng(1).normal(size=(33, 33))), ValueError, "31"),
])
def test_errors_name_what_is_wrong(arguments, error, names):
    with pytest.raises(error) as raised:
        videoconvolve.filter2d(**arguments)
    assert names in str(raised.value)


def test_a_stream_under_capture_is_refused_and_goes_on():
    tensor = torch.zeros((8, 8), dtype=torch.uint8, device="cuda")
    out = torch.zeros_like(tensor)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with pytest.raises(RuntimeError, match="captured"):
            videoconvolve.filter2d(tensor, [[1]], out=out)
    graph.replay()
    torch.cuda.synchronize()


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_each_gpu_filters_its_own():
    image = random((64, 64), np.uint8)
    for device in range(2):
        got = videoconvolve.filter2d(torch.from_numpy(image).cuda(device), [[1, 2, 1]], normalize=True)
        assert got.device.index == device
        np.testing.assert_array_equal(got.cpu().numpy(), videoconvolve.filter2d(image, [[1, 2, 1]], normalize=True))
    assert torch.cuda.current_device() == 0
    with pytest.raises(ValueError, match="GPU 1"):
        videoconvolve.filter2d(torch.from_numpy(image).cuda(0), [[1]], out=torch.from_numpy(image).cuda(1))
