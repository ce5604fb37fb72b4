# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# For the scripts of pipelines/, which source this file.

# A path as one word of gst-launch's language, in which blanks, quotation marks and ! mean something.
quoted() {
  local text=${1//\\/\\\\}
  echo "\"${text//\"/\\\"}\""
}
