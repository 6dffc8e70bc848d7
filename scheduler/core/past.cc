#include "scheduler/core/past.h"

#include <algorithm>
#include <string>

#include "scheduler/core/references.h"

namespace ordo::scheduler::core {
namespace {

// Whether a job that has not ended needs something of this one.
bool IsNeeded(const State& state, const JobEntry& entry) {
  const std::string& id = entry.job->id();
  if (state.pins.count(JobName(id)) > 0) return true;
  if (state.pins.count(EveryOf(id)) > 0) return true;
  if (state.pins.count(BestOf(id)) > 0) return true;
  const auto is_pinned = [&state](const auto& one) {
    return state.pins.count(one.second->name()) > 0;
  };
  return std::any_of(entry.checkpoints.begin(), entry.checkpoints.end(),
                     is_pinned) ||
         std::any_of(entry.reports.begin(), entry.reports.end(), is_pinned);
}

}  // namespace

void TakeBack(State& state, const PastJob& past) {
  const JobFacts& facts = *past.job->facts;
  const auto [it, is_new] = state.jobs.try_emplace(facts.id);
  if (!is_new) return;
  JobEntry& entry = it->second;
  entry.job = past.job;
  entry.place = Ended{};
  for (const CheckpointPtr& checkpoint : past.checkpoints) {
    entry.checkpoints[{checkpoint->attempt(), checkpoint->step()}] = checkpoint;
  }
  for (const ReportPtr& report : past.reports) {
    entry.reports[IdOf(report->name())] = report;
  }
  if (!facts.request.empty()) state.requests.insert(past.job->facts);
}

void HandleRecall(State& state, Recall recall) {
  for (const PastJob& past : recall.jobs) TakeBack(state, past);
}

void HandleForget(State& state, const Forget& forget) {
  for (const std::string& id : forget.jobs) {
    const auto it = state.jobs.find(id);
    if (it == state.jobs.end() ||
        !std::holds_alternative<Ended>(it->second.place) ||
        IsNeeded(state, it->second)) {
      continue;
    }
    const FactsPtr& facts = it->second.job->facts;
    if (!facts->request.empty()) state.requests.erase(facts);
    state.jobs.erase(it);
  }
}

}  // namespace ordo::scheduler::core
