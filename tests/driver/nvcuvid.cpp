// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A libnvcuvid.so.1 whose functions all fail. GStreamer's nvcodec plugin registers cudaupload and cudadownload only
// where it finds a decoder's or an encoder's library; this one has no decoder.
#define FAILING(name)                                            \
  extern "C" __attribute__((visibility("default"))) int name() { \
    return 801; /* CUDA_ERROR_NOT_SUPPORTED */                   \
  }

FAILING(cuvidCtxLockCreate)
FAILING(cuvidCtxLockDestroy)
FAILING(cuvidCtxLock)
FAILING(cuvidCtxUnlock)
FAILING(cuvidCreateDecoder)
FAILING(cuvidDestroyDecoder)
FAILING(cuvidDecodePicture)
FAILING(cuvidCreateVideoParser)
FAILING(cuvidParseVideoData)
FAILING(cuvidDestroyVideoParser)
FAILING(cuvidMapVideoFrame64)
FAILING(cuvidUnmapVideoFrame64)

/// Success, and a structure that stays as zeroed as it came: no codec is supported.
extern "C" __attribute__((visibility("default"))) int cuvidGetDecoderCaps() {
  return 0;
}
