# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Long videos through the element videoconvolve, cut into segments that may run anywhere and join without a seam."""

__version__ = "0.1.0"
