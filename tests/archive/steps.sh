# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Sourced by tests/run.sh, whose step and skip it uses: the package of pipelines/archive on one machine. Ray comes from
# PyPI into build/archive-venv, and Slurm from Debian.
step "archive: cuts, halos and key frames" /usr/bin/python3 tests/archive/cuts_test.py
step "archive: the same frames in one run and in segments" /usr/bin/python3 tests/archive/contract_test.py

venv=build/archive-venv
if [ -x $venv/bin/ray ] || { /usr/bin/python3 -m venv --system-site-packages $venv && $venv/bin/pip install -q "ray>=2.9"; } >/dev/null 2>&1; then
  step "archive: the same frames on Ray" $venv/bin/python tests/archive/ray_test.py
else
  skip "archive on Ray: pip could not install it"
fi

if [ "$(id -u)" -ne 0 ]; then
  skip "archive on Slurm: its daemons need root here"
elif ! command -v slurmctld slurmd munged sbatch >/dev/null; then
  skip "archive on Slurm: slurm-wlm and munge are not installed"
else
  step "archive: the same frames on Slurm" /usr/bin/python3 tests/archive/slurm_test.py
fi
