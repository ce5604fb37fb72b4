# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is asked of a kernel row: times the copy on CUDA, at most; times OpenCV on one thread of the CPU, at least.

CUDA's are by layout, class of taps and side; over several frames, the copy is of all of them and the output.
"""

FACTORING = ("separable-integer", "separable-real", "box")
REAL_BYTES = {3: 1.25, 5: 1.4, 7: 1.6, 15: 3.0, 31: 10}
UNSHARP = {3: 1.2, 5: 1.25, 7: 1.25, 15: 1.35}
REAL_WORDS, SEPARABLE_WORDS = {3: 1.2, 5: 1.5, 7: 1.8, 15: 2.8}, {3: 1.2, 5: 1.3, 7: 1.35, 15: 1.7}
BYTES = ("GRAY8", "NV12", "RGBA", "RGB", "YUY2")

CUDA = {
    ("GRAY8", "integer"): {3: 1.15, 5: 1.2, 7: 1.3, 15: 2.0, 31: 6},
    ("GRAY8", "real"): REAL_BYTES,
    ("NV12", "integer"): {31: 6},
    ("NV12", "real"): {3: 1.3, 5: 1.45, 7: 1.65, 15: 3.0, 31: 10},
    ("RGBA", "integer"): {31: 6},
    ("RGBA", "real"): {3: 1.25, 5: 1.4, 7: 1.6, 15: 3.2, 31: 10},
    ("RGB", "real"): {3: 1.2, 5: 1.4, 7: 1.6, 15: 3.0, 31: 10},
    ("YUY2", "real"): REAL_BYTES,
    ("GRAY16", "real"): REAL_WORDS,
    ("P010", "real"): REAL_WORDS,
    ("ARGB64", "real"): {3: 1.3, 5: 1.6, 7: 2.0, 15: 3.5},
    ("F32", "real"): {7: 1.5},
    ("GRAY8", "rank-2-real"): UNSHARP,
    ("NV12", "rank-2-real"): UNSHARP,
    ("RGBA", "rank-2-real"): UNSHARP,
}
CUDA_SEPARABLE = {
    "GRAY8": {3: 1.25, 5: 1.25, 7: 1.25, 15: 1.25},
    "NV12": {3: 1.3, 5: 1.3, 7: 1.3, 15: 1.3},
    "RGBA": {3: 1.25, 5: 1.25, 7: 1.25, 15: 1.25},
    "RGB": {3: 1.2, 5: 1.25, 7: 1.25, 15: 1.4},
    "YUY2": {3: 1.25, 5: 1.3, 7: 1.3, 15: 1.4},
    "GRAY16": SEPARABLE_WORDS,
    "P010": SEPARABLE_WORDS,
    "ARGB64": {3: 1.3, 5: 1.35, 7: 1.4, 15: 1.8},
}
CUDA_OVER_TIME = {"real": {1: 1.5, 3: 1.6, 7: 2.6}, "separable-real": {3: 1.4, 7: 1.5}}
MAGNITUDE_OF_TWO = 1.3
LARGE_SEPARABLE = ((63, 1.6), (255, 3.0))  # up to this side

CPU = {
    ("GRAY8", "integer"): {3: 5, 5: 7, 7: 9, 11: 8, 15: 6},
    ("GRAY8", "real"): {3: 3, 5: 5, 7: 5, 11: 5.5, 15: 4.5},
    ("GRAY16", "integer"): {3: 10, 5: 10, 7: 10},
    ("GRAY16", "real"): {3: 10, 5: 10, 7: 10},
    ("GRAY8", "sobel-magnitude"): {3: 3},
}
AMX = {
    ("GRAY8", "integer"): {3: 5, 5: 9, 7: 14, 11: 28, 15: 35},
    ("GRAY8", "real"): {3: 3, 5: 6, 7: 9, 11: 15, 15: 18},
}


def cuda(kernel):
    """The most copies that a results.Kernel may take, or None."""
    if kernel.depth > 1:
        return CUDA_OVER_TIME.get(kernel.taps, {}).get(kernel.side)
    if kernel.taps == "sobel-magnitude":
        return MAGNITUDE_OF_TWO
    if kernel.taps not in FACTORING:
        return CUDA.get((kernel.layout, kernel.taps), {}).get(kernel.side)
    if kernel.side > 15:
        large = [most for side, most in LARGE_SEPARABLE if kernel.side <= side]
        return large[0] if large and kernel.layout in BYTES else None
    if kernel.layout == "GRAY8" and kernel.taps == "separable-integer":
        return 1.2
    return CUDA_SEPARABLE.get(kernel.layout, {}).get(kernel.side)


def cpu(kernel, what_ran):
    """How many times as fast as OpenCV's filter, or None; `what_ran` is the row's label."""
    if kernel.depth > 1:
        return None
    table = CPU | AMX if ", amx," in what_ran else CPU
    return table.get((kernel.layout, kernel.taps), {}).get(kernel.side)
