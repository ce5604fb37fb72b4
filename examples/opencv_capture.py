#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Filtered frames in OpenCV: opencv_capture.py

cv2.VideoCapture opens a GStreamer pipeline that ends in an appsink, and reads its frames as arrays of height x width x 3,
in the order blue, green, red. The same pipeline without the element gives the frames before the filter, and each filtered frame
is compared with what cv2.filter2D makes of them. Needs an OpenCV that was built with GStreamer, as Debian's and Ubuntu's
python3-opencv is; the wheels of PyPI are not.
"""
import sys

import cv2
import numpy

SOURCE = "videotestsrc num-buffers=5 pattern=ball background-color=0xff4080c0 ! video/x-raw,format=BGR,width=320,height=240"
SHARPEN = ((0, -1, 0), (-1, 5, -1), (0, -1, 0))


def frames(pipeline):
    """Yields the frames of a pipeline until it ends."""
    capture = cv2.VideoCapture(pipeline, cv2.CAP_GSTREAMER)
    if not capture.isOpened():
        sys.exit(f"this pipeline does not start (GST_DEBUG=2 says why): {pipeline}")
    while True:
        read, frame = capture.read()
        if not read:
            break
        yield frame
    capture.release()


if not any("GStreamer" in line and "YES" in line for line in cv2.getBuildInformation().splitlines()):
    sys.exit("this OpenCV was built without GStreamer; install the distribution's: apt-get install python3-opencv")
rows = ",".join("<" + ",".join(map(str, row)) + ">" for row in SHARPEN)
originals = list(frames(f"{SOURCE} ! appsink sync=false"))
filtered = list(frames(f"{SOURCE} ! videoconvolve kernel=<{rows}> ! appsink sync=false"))
if len(originals) != 5 or len(filtered) != 5:
    sys.exit(f"5 frames were expected, {len(originals)} and {len(filtered)} came")
for number, (before, after) in enumerate(zip(originals, filtered)):
    expected = cv2.filter2D(before, -1, numpy.array(SHARPEN, numpy.float32), borderType=cv2.BORDER_REPLICATE)
    print(f"frame {number}: {numpy.count_nonzero(before != after)} samples changed by the filter, "
          f"{numpy.count_nonzero(expected != after)} unlike cv2.filter2D")
    if not numpy.array_equal(expected, after) or numpy.array_equal(before, after):
        sys.exit("the element and cv2.filter2D do not agree")
