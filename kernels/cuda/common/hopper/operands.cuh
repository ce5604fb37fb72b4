// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Lists of operands for the asm statements of warpgroups' products, which hopper/ptx.cuh and limbs/ptx.cuh have.
// Macros, as an asm statement takes its text and its operands literally; they stay defined.
#pragma once

/// Elements i .. i + 15 of the array `sum`, each an operand that is read and written: "+f" floats, "+r" integers.
#define CONVOLVE_16_SUMS(constraint, i)                                                                         \
  constraint(sum[(i)]), constraint(sum[(i) + 1]), constraint(sum[(i) + 2]), constraint(sum[(i) + 3]),           \
      constraint(sum[(i) + 4]), constraint(sum[(i) + 5]), constraint(sum[(i) + 6]), constraint(sum[(i) + 7]),   \
      constraint(sum[(i) + 8]), constraint(sum[(i) + 9]), constraint(sum[(i) + 10]), constraint(sum[(i) + 11]), \
      constraint(sum[(i) + 12]), constraint(sum[(i) + 13]), constraint(sum[(i) + 14]), constraint(sum[(i) + 15])

// The names of as many operands, from the first on and from each multiple of 16 on: the text has them side by side.
#define CONVOLVE_NAMES_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define CONVOLVE_NAMES_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define CONVOLVE_NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define CONVOLVE_NAMES_48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
