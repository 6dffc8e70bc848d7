#ifndef ORDO_SCHEDULER_CORE_SCORES_H_
#define ORDO_SCHEDULER_CORE_SCORES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/core/state.h"

// What jobs score, by the reports that they left. Internal to scheduler/core.

namespace ordo::scheduler::core {

// The score that the model of a step has in an evaluation of the job itself,
// finite or not; nothing: it left no report of that, or one without the score.
std::optional<double> ScoreAt(const JobEntry& entry, const Criterion& by,
                              int64_t step);

// The newest step that the evaluation was made at; 0: none.
int64_t NewestStep(const JobEntry& entry, const Criterion& by);

// Names of all scores in the same report, for people; empty: there is none.
std::string ScoreNames(const JobEntry& entry, const Criterion& by,
                       int64_t step);

// The checkpoint that did best in the first of the job's own evaluations which
// has results, by that one's headline metric (model/catalog/headline.h), of
// those that are AVAILABLE; of equals that of the later step; null: none is.
CheckpointPtr BestCheckpoint(const JobEntry& entry);

// Whether a score is better than another. What is not finite is worse than all
// that is, and no better than what is not.
bool IsBetter(const Criterion& by, double a, double b);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SCORES_H_
