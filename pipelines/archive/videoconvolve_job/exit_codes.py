# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the command's exit status means to a shell, to Slurm and to Kubernetes."""

FAILED = 1     # another attempt may go through
NO_RETRY = 3   # an input, a setting or the machine is at fault: another attempt fails alike (2 is argparse's own)
INCOMPLETE = 4  # some inputs or segments failed and are named; all others are done
