#include "tests/sim/order.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;

// Smaller is earlier; of equals, the one that was created first.
using Place = std::pair<absl::Duration, int64_t>;

Place PlaceOf(const core::State& state, const core::JobFacts& facts,
              int32_t priority) {
  return {
      absl::Nanoseconds(facts.create_ns) - priority * state.options.board.aging,
      facts.sequence};
}

// Of a job that waits.
Place PlaceOf(const core::State& state, const core::JobFacts& facts) {
  return PlaceOf(state, facts, state.jobs.at(facts.id).job->priority);
}

// Whether one of them starts exactly when the other might have.
bool AreAlike(const core::JobFacts& a, const core::JobFacts& b) {
  return a.user == b.user && a.parent.value() == b.parent.value() &&
         core::QueueOf(*a.spec) == core::QueueOf(*b.spec) &&
         core::ShapeOf(*a.spec) == core::ShapeOf(*b.spec);
}

}  // namespace

void Order::AfterLoad(const core::State& state) {
  reserved_.clear();
  first_.clear();
  newest_ = state.next_sequence - 1;
}

void Order::TakeJob(const core::JobFacts& job) {
  if (job.sequence <= newest_) return;
  newest_ = job.sequence;
  clock_went_back_ |= job.create_ns < newest_ns_;
  newest_ns_ = job.create_ns;
}

bool Order::ComesFirst(const core::State& state, const core::JobFacts& waiting,
                       const JobView& starting) const {
  const int32_t priority = state.jobs.at(waiting.id).job->priority;
  if (waiting.sequence < starting.sequence && priority >= starting.priority) {
    return true;
  }
  return !clock_went_back_ &&
         PlaceOf(state, waiting) <
             PlaceOf(state, *starting.facts, starting.priority);
}

void Order::CheckStart(const core::State& state, const JobView& job) {
  if (reserved_.count(job.sequence) > 0) return;
  for (const auto& [sequence, facts] : state.waiting) {
    if (!AreAlike(*facts, *job.facts) || !ComesFirst(state, *facts, job)) {
      continue;
    }
    world_.Fail(absl::StrCat("job ", job.id, " begins before job ", facts->id,
                             ", whose turn it is"));
  }
}

void Order::AfterApply(const core::State& state) {
  reserved_.clear();
  for (const auto& reservation : state.board.Reservations()) {
    reserved_.insert(reservation.job);
  }
  std::map<std::string, const core::JobFacts*> first;
  for (const auto& [sequence, facts] : state.waiting) {
    const core::JobFacts*& found = first[core::QueueOf(*facts->spec)];
    if (found == nullptr || PlaceOf(state, *facts) < PlaceOf(state, *found)) {
      found = facts.get();
    }
  }
  const std::map<std::string, First> before = std::exchange(first_, {});
  for (const auto& [queue, job] : first) {
    First& now_first = first_[queue];
    now_first = {job->sequence, world_.now()};
    const auto it = before.find(queue);
    if (it != before.end() && it->second.sequence == job->sequence) {
      now_first.since = it->second.since;
    }
    CheckFirst(*job, now_first.since);
  }
}

void Order::CheckFirst(const core::JobFacts& job, absl::Duration since) {
  const absl::Duration passed = world_.now() - since;
  longest_first_ = std::max(longest_first_, passed);
  if (passed <= bound_) return;
  world_.Fail(absl::StrCat("job ", job.id, " is the first that waits in ",
                           core::QueueOf(*job.spec), " for ",
                           absl::FormatDuration(passed), ", longer than ",
                           absl::FormatDuration(bound_)));
}

}  // namespace ordo::tests::sim
