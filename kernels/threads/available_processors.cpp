// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "threads/available_processors.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace convolve {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

unsigned processors_of_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

// A container sees its own control group as the root of the file system of groups.
std::optional<unsigned> processors_of_quota() {
  if (const auto limit = processors_of_cpu_max(content_of("/sys/fs/cgroup/cpu.max"))) return limit;
  const std::string folder = "/sys/fs/cgroup/cpu/";
  return processors_of_cfs(content_of(folder + "cpu.cfs_quota_us"), content_of(folder + "cpu.cfs_period_us"));
}

}  // namespace

std::optional<unsigned> processors_of_cfs(std::string_view quota, std::string_view period) {
  const auto time = number(quota), of = number(period);
  if (!time || !of || *time <= 0 || *of <= 0) return std::nullopt;
  return static_cast<unsigned>(std::min<std::int64_t>((*time - 1) / *of + 1, 1 << 20));
}

std::optional<unsigned> processors_of_cpu_max(std::string_view cpu_max) {
  const std::size_t gap = cpu_max.find(' ');
  if (gap == std::string_view::npos) return std::nullopt;
  return processors_of_cfs(cpu_max.substr(0, gap), cpu_max.substr(gap + 1));
}

unsigned available_processors() {
  static const unsigned count = std::min(processors_of_affinity(), processors_of_quota().value_or(~0u));
  return count;
}

}  // namespace convolve
