#ifndef ORDO_SCHEDULER_CORE_SUMMARIZE_H_
#define ORDO_SCHEDULER_CORE_SUMMARIZE_H_

#include <cstddef>

#include "proto/ordo/training/v1/spec.pb.h"
#include "scheduler/core/state.h"

// The task of a sweep, comparison or pipeline: what is known of its parts.

namespace ordo::scheduler::core {

// Bytes that the reports in one such task take, shared evenly by its parts, and
// bytes of the label and of the message of a part; what is longer is cut. With
// as many parts as there may be, a task stays below base::kMaxTasksBytes.
inline constexpr size_t kMaxSummaryReportBytes = 4 << 20;
inline constexpr size_t kMaxSummaryLabelBytes = 512;
inline constexpr size_t kMaxSummaryMessageBytes = 1024;

// Of a job of kind SWEEP, COMPARE or PIPELINE whose parts have ended, for its
// newest attempt. `task` is empty. Reports are told by their folders, without
// their files: there may be thousands. Of a part with more reports than there
// is room for, the oldest are left out, which its message says. Reads the spec
// of a comparison, and those of parts that train, for their seeds, with the
// errors of SpecSource; of a part whose spec is damaged the seed is left out,
// which its message says.
absl::Status SetSummarizeTask(const State& state, const JobEntry& entry,
                              training::v1::SummarizeSpec* task);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SUMMARIZE_H_
