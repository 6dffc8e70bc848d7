#include "scheduler/core/follow.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <variant>

#include "scheduler/core/references.h"

namespace ordo::scheduler::core {
namespace {

const JobEntry* FindEntry(const State& state, const std::string& job) {
  const auto found = state.jobs.find(job);
  return found == state.jobs.end() ? nullptr : &found->second;
}

bool IsEvaluated(const JobEntry& follower, int64_t step) {
  const auto num_reports = std::count_if(
      follower.reports.begin(), follower.reports.end(),
      [step](const auto& report) { return report.second->step() == step; });
  return static_cast<size_t>(num_reports) >=
         follower.job->facts->demand().evaluations.size();
}

// What is there of the followed job and not evaluated, by rising steps; of one
// step the newest.
std::vector<CheckpointPtr> DueOf(const JobEntry& follower,
                                 const JobEntry& followed) {
  std::map<int64_t, CheckpointPtr> by_step;
  for (const auto& [key, checkpoint] : followed.checkpoints) {
    if (checkpoint->state() != checkpoints::v1::Checkpoint::AVAILABLE ||
        IsEvaluated(follower, checkpoint->step())) {
      continue;
    }
    by_step[checkpoint->step()] = checkpoint;
  }
  std::vector<CheckpointPtr> due;
  for (const auto& [step, checkpoint] : by_step) {
    if (due.size() == kMaxFollowedAtOnce) break;
    due.push_back(checkpoint);
  }
  return due;
}

// Its record may be about to say so, or its place not known yet.
bool HasEnded(const JobEntry& entry) {
  return std::holds_alternative<Ended>(entry.place) ||
         IsTerminal(entry.job->state);
}

}  // namespace

std::string FollowedBy(const JobFacts& job) {
  for (const std::string& reference : job.references) {
    if (NamesEvery(reference)) return JobIdOf(reference);
  }
  return "";
}

std::vector<CheckpointPtr> EvaluatedBy(const State& state,
                                       const JobEntry& entry,
                                       const jobs::v1::JobSpec& spec) {
  const JobEntry* followed = FindEntry(state, FollowedBy(*entry.job->facts));
  if (followed != nullptr) {
    std::vector<CheckpointPtr> due = DueOf(entry, *followed);
    if (due.empty()) due.push_back(NewestCheckpoint(*followed));
    return due;
  }
  std::vector<CheckpointPtr> checkpoints;
  for (const std::string& name : spec.checkpoints()) {
    checkpoints.push_back(FindReferenced(state, name));
  }
  return checkpoints;
}

bool AwaitsCheckpoint(const State& state, const JobEntry& entry,
                      const JobFacts& job) {
  const JobEntry* followed = FindEntry(state, FollowedBy(job));
  return followed != nullptr && !HasEnded(*followed) &&
         DueOf(entry, *followed).empty();
}

bool GoesOn(const State& state, const JobEntry& entry) {
  const JobEntry* followed = FindEntry(state, FollowedBy(*entry.job->facts));
  return followed != nullptr &&
         (!HasEnded(*followed) || !DueOf(entry, *followed).empty());
}

bool IsStuck(const State& state, const JobEntry& entry) {
  const JobRecord& job = *entry.job;
  const JobEntry* followed = FindEntry(state, FollowedBy(*job.facts));
  if (followed == nullptr || DueOf(entry, *followed).empty()) return false;
  return std::none_of(entry.reports.begin(), entry.reports.end(),
                      [&job](const auto& report) {
                        return report.second->attempt() == job.attempt_number();
                      });
}

std::vector<std::string> AwaitedBy(
    const State& state, const checkpoints::v1::Checkpoint& checkpoint) {
  std::vector<std::string> waiting;
  for (const std::string& follower :
       FollowersOf(state, JobIdOf(checkpoint.name()))) {
    if (!IsEvaluated(state.jobs.at(follower), checkpoint.step())) {
      waiting.push_back(follower);
    }
  }
  return waiting;
}

std::vector<std::string> FollowersOf(const State& state,
                                     const std::string& job) {
  const auto pins = state.pins.find(EveryOf(job));
  if (pins == state.pins.end()) return {};
  return {pins->second.begin(), pins->second.end()};
}

}  // namespace ordo::scheduler::core
