# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`python3 -m videoconvolve_job`: what a process started by an engine runs."""
import sys

from .cli import main

sys.exit(main())
