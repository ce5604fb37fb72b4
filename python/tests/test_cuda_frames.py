# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cuda_array on frames that GStreamer made in CUDA memory. Skipped where there is no GPU."""
import gc

import numpy as np
import pytest

import videoconvolve
from videoconvolve import _kernels

gi = pytest.importorskip("gi", reason="PyGObject is not installed")
cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not _kernels.have_cuda or not torch.cuda.is_available():
    pytest.skip("this build has no CUDA backend, or this machine no GPU", allow_module_level=True)

videoconvolve.register()
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

UPLOAD = "cudaupload ! video/x-raw(memory:CUDAMemory)"


def sample_of(format, tail):
    """The one frame of a pipeline that makes a picture and goes on with `tail`."""
    pipeline = Gst.parse_launch(f"videotestsrc num-buffers=1 pattern=smpte ! video/x-raw,format={format},width=322,height=182,"
                                f"framerate=25/1 ! {tail} ! appsink name=sink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("sink").emit("try-pull-sample", 20 * Gst.SECOND)
    assert sample is not None, pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    return pipeline, sample


def planes_on_host(format):
    """The planes of the same picture in system memory: (rows, columns) of bytes, without the padding of rows."""
    pipeline, sample = sample_of(format, "identity")
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    data = np.frombuffer(sample.get_buffer().extract_dup(0, sample.get_buffer().get_size()), np.uint8)
    pipeline.set_state(Gst.State.NULL)
    ends = [info.offset[p] for p in range(1, info.finfo.n_planes)] + [data.size]
    return [data[info.offset[p]:ends[p]].reshape(-1, info.stride[p]) for p in range(info.finfo.n_planes)]


@pytest.mark.parametrize("format, shapes, dtype", [
    ("NV12", [(182, 322), (91, 161, 2)], np.uint8), ("I420", [(182, 322), (91, 161), (91, 161)], np.uint8),
    ("RGBA", [(182, 322, 4)], np.uint8), ("BGR", [(182, 322, 3)], np.uint8), ("Y444", [(182, 322)] * 3, np.uint8),
    ("P010_10LE", [(182, 322), (91, 161, 2)], np.uint16), ("I420_10LE", [(182, 322), (91, 161), (91, 161)], np.uint16)])
def test_planes_hold_what_the_host_has(format, shapes, dtype):
    pipeline, sample = sample_of(format, UPLOAD)
    host = planes_on_host(format)
    for plane, shape in enumerate(shapes):
        array = videoconvolve.cuda_array(sample.get_buffer(), sample.get_caps(), plane)
        assert array.shape == shape and array.dtype == dtype and array.readonly and array.device == 0
        want = host[plane].view(dtype)[:shape[0], :int(np.prod(shape[1:]))].reshape(shape)
        np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(array)), want)
        np.testing.assert_array_equal(torch.from_dlpack(array).cpu().numpy(), want)
    with pytest.raises(IndexError, match=format):
        videoconvolve.cuda_array(sample.get_buffer(), sample.get_caps(), len(shapes))
    pipeline.set_state(Gst.State.NULL)


def test_a_frame_is_filtered_where_it_lies():
    pipeline, sample = sample_of("NV12", UPLOAD)
    kernel = [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    filtered = videoconvolve.filter2d(videoconvolve.cuda_array(sample.get_buffer(), sample.get_caps()), kernel, normalize=True)
    want = videoconvolve.filter2d(planes_on_host("NV12")[0][:182, :322], kernel, normalize=True)
    np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(filtered)), want)
    pipeline.set_state(Gst.State.NULL)


def test_the_elements_frames_are_finished_when_they_are_seen():
    pipeline, sample = sample_of("NV12", f"{UPLOAD} ! videoconvolve preset=box-blur radius=15 backend=cuda")
    got = cupy.asnumpy(cupy.asarray(videoconvolve.cuda_array(sample.get_buffer(), sample.get_caps())))
    want = videoconvolve.filter2d(planes_on_host("NV12")[0][:182, :322].astype(np.float32), np.ones((31, 31), int), normalize=True)
    # videotestsrc's luma is of limited range: within rounding all the same, as the taps sum to 1.
    np.testing.assert_allclose(got.astype(float), want, atol=0.51)
    pipeline.set_state(Gst.State.NULL)


def test_a_buffer_of_ones_own_is_written_in_place():
    pipeline, sample = sample_of("NV12", UPLOAD)
    caps = sample.get_caps()
    assert videoconvolve.cuda_array(sample.get_buffer(), caps).readonly, "the sample holds the buffer too"
    buffer = sample.get_buffer().copy_deep()
    pipeline.set_state(Gst.State.NULL)
    with videoconvolve.cuda_array(buffer, caps) as luma, videoconvolve.cuda_array(buffer, caps, 1) as chroma:
        assert not luma.readonly and not chroma.readonly
        torch.as_tensor(luma, device="cuda").fill_(77)
        cupy.asarray(chroma)[...] = 128
    back = Gst.parse_launch("appsrc name=in format=time ! cudadownload ! appsink name=out sync=false")
    back.get_by_name("in").set_property("caps", caps)
    back.set_state(Gst.State.PLAYING)
    back.get_by_name("in").emit("push-buffer", buffer)
    buffer = back.get_by_name("out").emit("try-pull-sample", 20 * Gst.SECOND).get_buffer()
    meta = GstVideo.buffer_get_video_meta(buffer)
    data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
    for plane, (rows, value) in enumerate(((182, 77), (91, 128))):
        stride = meta.stride[plane]
        assert (data[meta.offset[plane]:][:stride * rows].reshape(rows, stride)[:, :322] == value).all()
    back.set_state(Gst.State.NULL)


def test_the_array_keeps_the_memory_and_release_ends_that():
    pipeline, sample = sample_of("NV12", UPLOAD)
    array = videoconvolve.cuda_array(sample.get_buffer(), sample.get_caps())
    want = planes_on_host("NV12")[0][:182, :322]
    tensor = torch.from_dlpack(array)
    del sample
    pipeline.set_state(Gst.State.NULL)
    del pipeline
    gc.collect()
    np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(array)), want)
    array.release()
    array.release()
    with pytest.raises(RuntimeError, match="released"):
        cupy.asarray(array)
    del tensor


def test_readers_that_cannot_be_told_are_refused():
    pipeline, sample = sample_of("NV12", UPLOAD)
    array = videoconvolve.cuda_array(sample.get_buffer(), sample.get_caps())
    with pytest.raises(BufferError, match="may only be read"):
        array.__dlpack__()
    with pytest.raises(ValueError, match="may only be read"):
        videoconvolve.filter2d(cupy.zeros((182, 322), np.uint8), [[1]], out=array)
    pipeline.set_state(Gst.State.NULL)


def test_errors_name_what_is_wrong():
    pipeline, sample = sample_of("NV12", "identity")
    with pytest.raises(ValueError, match="cudaupload"):
        videoconvolve.cuda_array(sample.get_buffer(), sample.get_caps())
    with pytest.raises(TypeError, match="Gst.Buffer"):
        videoconvolve.cuda_array(sample, sample.get_caps())
    with pytest.raises(TypeError, match="Gst.Caps"):
        videoconvolve.cuda_array(sample.get_buffer(), 5)
    pipeline.set_state(Gst.State.NULL)
    pipeline, sample = sample_of("NV12", UPLOAD)
    with pytest.raises(ValueError, match="audio"):
        videoconvolve.cuda_array(sample.get_buffer(), "audio/x-raw")
    with pytest.raises(RuntimeError, match="smaller"):
        videoconvolve.cuda_array(sample.get_buffer(), "video/x-raw(memory:CUDAMemory),format=Y444,width=9999,height=9999")
    pipeline.set_state(Gst.State.NULL)
