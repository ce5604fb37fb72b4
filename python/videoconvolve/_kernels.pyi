# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
from collections.abc import Sequence
from typing import Any, Union

import numpy.typing as npt

# Frames have shape (frames, height, width, components). A tap is an int, a float, or numerator and denominator. The
# arguments have no names in the binding, hence the slash.
def filter_frames(frames: npt.NDArray[Any], out: npt.NDArray[Any], taps: Sequence[Union[int, float, tuple[int, int]]],
                  depth: int, height: int, width: int, operation: str, scale: float, normalize: bool, bias: float,
                  border: str, border_value: float, bits: int, algorithm: str, threads: int, /) -> None: ...
