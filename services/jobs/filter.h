#ifndef ORDO_SERVICES_JOBS_FILTER_H_
#define ORDO_SERVICES_JOBS_FILTER_H_

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/scheduler.h"

namespace ordo::services::jobs {

inline constexpr size_t kMaxFilterBytes = 4096;

// Reads the filter of ListJobs: terms joined by AND, a part of
// https://google.aip.dev/160.
//
//   state = RUNNING AND owner = ada AND labels.team = "number theory"
//
// Keys are state, queue, owner, parent (a job) and labels.KEY, each at most
// once. A value in double quotes may hold anything, with \" and \\ in it. An
// empty filter matches everything. INVALID_ARGUMENT (field `filter`) says where
// it stopped.
absl::StatusOr<scheduler::JobFilter> ParseFilter(std::string_view text);

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_FILTER_H_
