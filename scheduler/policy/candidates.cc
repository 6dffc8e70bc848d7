#include "scheduler/policy/candidates.h"

#include <algorithm>

#include "scheduler/policy/lanes.h"

namespace ordo::scheduler::policy {
namespace {

// Too young ones of a group that are passed one by one.
constexpr int kMaxYoung = 64;

using Set = absl::btree_set<AttemptKey>;

// The first attempt with at least that priority and then so many devices.
Set::const_iterator FirstOf(const Set& set, int priority, int devices) {
  AttemptKey key;
  key.priority = priority;
  key.devices = devices;
  key.checkpointed = absl::InfiniteDuration();
  return set.lower_bound(key);
}

}  // namespace

Candidates::Candidates(const Plan& plan, const VictimOptions& options)
    : plan_(plan) {
  const Tables& tables = plan.tables();
  const WaitEntry& job = tables.waiting.at(options.job);
  const Lane& lane = tables.lanes[job.lane];
  queue_ = lane.queue;
  priority_ = job.priority;
  gives_back_.resize(tables.queues.size(), false);
  const int kind_id = tables.shapes[lane.shape].kind;
  for (const auto& [name, queue] : tables.queue_ids) {
    const auto it = tables.queues[queue].kinds.find(kind_id);
    if (it == tables.queues[queue].kinds.end()) continue;
    const QueueKind& kind = it->second;
    const bool is_own = queue == queue_;
    const bool is_above = kind.held - kind.stopping > kind.quota.guaranteed;
    gives_back_[queue] = !is_own && options.reclaim && is_above;
    if (!is_own && !gives_back_[queue]) continue;
    Attempts all{queue, &kind.attempts, kind.attempts.begin(),
                 kind.attempts.end()};
    if (is_own) all.end = FirstOf(kind.attempts, priority_, 0);
    if (all.next != all.end) unopened_.push_back(all);
  }
}

std::optional<Candidate> Candidates::Next() {
  while (groups_.empty() && !unopened_.empty()) OpenPriority();
  if (groups_.empty()) return std::nullopt;
  std::pop_heap(groups_.begin(), groups_.end(), IsLater);
  Group group = groups_.back();
  groups_.pop_back();
  const Candidate candidate = group.candidate;
  ++group.next;
  Add(group);
  return candidate;
}

std::optional<Candidate> Candidates::Of(const Occupant& occupant) const {
  const Tables& tables = plan_.tables();
  const RunEntry& run = tables.running.at(occupant.job);
  const int queue = tables.lanes[run.lane].queue;
  const bool is_open =
      queue == queue_ ? run.priority < priority_ : gives_back_[queue];
  if (!is_open || run.stopping || IsYoung(run.started)) return std::nullopt;
  return CandidateOf(AttemptKeyOf(tables, occupant.job), queue);
}

Candidate Candidates::CandidateOf(const AttemptKey& key, int queue) const {
  return {key.priority,
          key.devices * absl::ToDoubleSeconds(plan_.now() - key.checkpointed),
          key.job, queue, key.devices};
}

void Candidates::OpenPriority() {
  int priority = unopened_.front().next->priority;
  for (const Attempts& queue : unopened_) {
    priority = std::min(priority, queue.next->priority);
  }
  for (Attempts& queue : unopened_) {
    while (queue.next != queue.end && queue.next->priority == priority) {
      const auto end = FirstOf(*queue.set, priority, queue.next->devices + 1);
      Add({queue.queue, queue.set, queue.next, end, {}});
      queue.next = end;
    }
  }
  unopened_.erase(std::remove_if(unopened_.begin(), unopened_.end(),
                                 [](const Attempts& queue) {
                                   return queue.next == queue.end;
                                 }),
                  unopened_.end());
}

void Candidates::Add(Group group) {
  const absl::Duration old = plan_.now() - plan_.options().min_run_time;
  for (int i = 0; group.next != group.end && IsYoung(group.next->started);
       ++i) {
    if (i != kMaxYoung || group.next->checkpointed <= old) {
      ++group.next;
      continue;
    }
    // What wrote its last checkpoint then has begun before.
    AttemptKey key = *group.next;
    key.checkpointed = old;
    key.job = 0;
    group.next = group.set->lower_bound(key);
  }
  if (group.next == group.end) return;
  group.candidate = CandidateOf(*group.next, group.queue);
  groups_.push_back(group);
  std::push_heap(groups_.begin(), groups_.end(), IsLater);
}

}  // namespace ordo::scheduler::policy
