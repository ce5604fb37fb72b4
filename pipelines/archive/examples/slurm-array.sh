#!/bin/bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One Slurm task a segment. JOB is the folder of the plan, on a file system that all nodes see:
#
#     videoconvolve-job plan IN... --filter 'preset=temporal-denoise' -o JOB      # prints how many segments there are
#     sbatch --array=0-$((SEGMENTS - 1)) slurm-array.sh JOB
#
# On nodes with GPUs, add to the options below what your site calls them, such as --gres=gpu:1.
#SBATCH --job-name=videoconvolve
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append

job=${1:?give the folder of the plan}
command=${VIDEOCONVOLVE_JOB:-videoconvolve-job}

# The segment's number comes in SLURM_ARRAY_TASK_ID. Not exec: this shell has to see the worker die.
"$command" run "$job"
status=$?

# Slurm itself takes up what died with its node. Here, a worker that died alone has three further attempts; status 3
# says that another one would fail alike.
if [ $status -ne 0 ] && [ $status -ne 3 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit $status
