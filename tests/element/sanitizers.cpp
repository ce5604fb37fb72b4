// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the sanitizers have to be told of GLib, whose libraries are not instrumented. Nothing in other builds.
#include <glib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#define EXPORT extern "C" __attribute__((visibility("default"), used))

#ifdef __SANITIZE_ADDRESS__
// GLib keeps tables for the life of the process; the leaks test has a tracer of its own.
EXPORT const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif

#ifdef __SANITIZE_THREAD__
#include <dlfcn.h>

EXPORT const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1";
}

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

// GMutex and GCond are futexes, and what GLib does with GRecMutex (a pad's stream lock) is ignored with GLib's module:
// ThreadSanitizer sees none of them. Their calls are interposed to tell it.
namespace {
template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
}  // namespace

EXPORT void g_mutex_lock(GMutex* mutex) {
  static auto* const real = next(&g_mutex_lock, "g_mutex_lock");
  real(mutex);
  __tsan_acquire(mutex);
}
EXPORT gboolean g_mutex_trylock(GMutex* mutex) {
  static auto* const real = next(&g_mutex_trylock, "g_mutex_trylock");
  const gboolean locked = real(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}
EXPORT void g_mutex_unlock(GMutex* mutex) {
  static auto* const real = next(&g_mutex_unlock, "g_mutex_unlock");
  __tsan_release(mutex);
  real(mutex);
}
EXPORT void g_rec_mutex_lock(GRecMutex* mutex) {
  static auto* const real = next(&g_rec_mutex_lock, "g_rec_mutex_lock");
  real(mutex);
  __tsan_acquire(mutex);
}
EXPORT gboolean g_rec_mutex_trylock(GRecMutex* mutex) {
  static auto* const real = next(&g_rec_mutex_trylock, "g_rec_mutex_trylock");
  const gboolean locked = real(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}
EXPORT void g_rec_mutex_unlock(GRecMutex* mutex) {
  static auto* const real = next(&g_rec_mutex_unlock, "g_rec_mutex_unlock");
  __tsan_release(mutex);
  real(mutex);
}
EXPORT void g_cond_wait(GCond* cond, GMutex* mutex) {
  static auto* const real = next(&g_cond_wait, "g_cond_wait");
  __tsan_release(mutex);
  real(cond, mutex);
  __tsan_acquire(mutex);
}
EXPORT gboolean g_cond_wait_until(GCond* cond, GMutex* mutex, gint64 end) {
  static auto* const real = next(&g_cond_wait_until, "g_cond_wait_until");
  __tsan_release(mutex);
  const gboolean signalled = real(cond, mutex, end);
  __tsan_acquire(mutex);
  return signalled;
}
#endif
