# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The two kinds of failure that a user is told about."""


class JobError(Exception):
    """Something failed that may well go through on another attempt or another machine."""


class InputError(JobError):
    """An input, a setting or the machine is at fault: another attempt gives the same failure, so engines do not retry it."""
