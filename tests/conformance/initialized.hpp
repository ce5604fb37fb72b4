// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What MemorySanitizer is told of memory (msan.sh); in other builds all of it does nothing.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define CONFORMANCE_MEMORY_SANITIZER
#include <sanitizer/msan_interface.h>
#endif
#endif

namespace conformance {

#ifdef CONFORMANCE_MEMORY_SANITIZER
inline constexpr bool looks_for_unknown = true;
#else
inline constexpr bool looks_for_unknown = false;
#endif

/// From here on nobody has written these bytes.
inline void forget([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t size) {
#ifdef CONFORMANCE_MEMORY_SANITIZER
  __msan_poison(data, size);
#endif
}

/// These bytes count as written.
inline void remember([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t size) {
#ifdef CONFORMANCE_MEMORY_SANITIZER
  __msan_unpoison(data, size);
#endif
}

/// Whether somebody wrote these bytes, from nothing but what was written itself.
inline bool is_known([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t size) {
#ifdef CONFORMANCE_MEMORY_SANITIZER
  return __msan_test_shadow(data, size) < 0;
#else
  return true;
#endif
}

/// The text of an exception, which libstdc++ wrote where MemorySanitizer does not look.
inline std::string text_of(const std::exception& error) {
#ifdef CONFORMANCE_MEMORY_SANITIZER
  __msan_unpoison_string(error.what());
#endif
  return error.what();
}

}  // namespace conformance
