#include "scheduler/core/trials.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/core/scores.h"

namespace ordo::scheduler::core {

std::optional<size_t> BestTrial(const State& state, const Trials& trials) {
  std::optional<size_t> best;
  double best_score = 0;
  for (size_t i = 0; i < trials.jobs.size(); ++i) {
    const auto trial = state.jobs.find(trials.jobs[i]);
    if (trial == state.jobs.end()) continue;
    const auto score =
        ScoreAt(trial->second, trials.by, NewestStep(trial->second, trials.by));
    if (!score.has_value() || !std::isfinite(*score)) continue;
    if (best.has_value() && !IsBetter(trials.by, *score, best_score)) continue;
    best = i;
    best_score = *score;
  }
  return best;
}

absl::Status CheckTrials(const State& state, const NamedJobs& named,
                         const Trials& trials) {
  bool all_ended = true;
  for (size_t i = 0; i < trials.jobs.size(); ++i) {
    const std::string& id = trials.jobs[i];
    const auto trial = state.jobs.find(id);
    const bool is_there = trial != state.jobs.end();
    if (!is_there && named.created.count(id) == 0) {
      return absl::NotFoundError(absl::StrCat(
          "tuned_by.trials[", i, "].job: there is no job ", id,
          "; leave tuned_by out, and give training.learning_rate"));
    }
    all_ended = all_ended && is_there && IsTerminal(trial->second.job->state);
  }
  if (!all_ended || BestTrial(state, trials).has_value()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("tuned_by.trials: ", NothingOf(state, trials)));
}

std::string NothingOf(const State& state, const Trials& trials) {
  std::string others;
  for (const std::string& id : trials.jobs) {
    const auto trial = state.jobs.find(id);
    if (trial == state.jobs.end() || !others.empty()) continue;
    others = ScoreNames(trial->second, trials.by,
                        NewestStep(trial->second, trials.by));
  }
  return absl::StrCat("none of its trials, ", absl::StrJoin(trials.jobs, ", "),
                      ", left a finite ", trials.by.metric, " of ",
                      trials.by.evaluation,
                      others.empty() ? "" : ", which has ", others);
}

}  // namespace ordo::scheduler::core
