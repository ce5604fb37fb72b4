// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Available processors: how many threads this process can run at once. It counts the processors that its affinity mask
// allows and the share of them that a container's quota leaves, neither of which
// std::thread::hardware_concurrency() takes into account.
#pragma once

#include <optional>
#include <string_view>

namespace convolve {

/// At least 1. Asked once a process.
unsigned available_processors();

/// Processors that the quota of a control group allows, rounded up; none where there is no limit or the text is not
/// understood. Version 2's cpu.max holds both numbers, "200000 100000" or "max 100000"; version 1 has a file for each,
/// cpu.cfs_quota_us and cpu.cfs_period_us, and a quota of -1 for no limit.
std::optional<unsigned> processors_of_cpu_max(std::string_view cpu_max);
std::optional<unsigned> processors_of_cfs(std::string_view quota, std::string_view period);

}  // namespace convolve
