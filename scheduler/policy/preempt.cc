#include "scheduler/policy/preempt.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "scheduler/policy/classes.h"
#include "scheduler/policy/lanes.h"

namespace ordo::scheduler::policy {
namespace {

// Of one queue, at most.
constexpr int kMaxCandidates = 512;
// Workers that have some room already.
constexpr size_t kMaxWorkers = 64;

int DevicesOf(const Tables& tables, const RunEntry& run) {
  return static_cast<int>(run.parts.size()) *
         tables.shapes[tables.lanes[run.lane].shape].shape.devices;
}

// Room as it is when attempts stop.
class Search {
 public:
  Search(const Plan& plan, int64_t job)
      : plan_(plan),
        job_(job),
        shape_(plan.tables().lanes[plan.tables().waiting.at(job).lane].shape),
        ask_(AskOf(plan.tables(), shape_)),
        stay_{plan.EndsBy(shape_), /*owns=*/true} {
    for (const int worker : plan.MostOpen(shape_, kMaxWorkers)) Look(worker);
  }

  // Frees what the attempt has; whether there is room for the job then.
  bool Stop(int64_t victim) {
    bool is_enough = false;
    for (const auto& [worker, occupant] : PartsOf(victim)) {
      WorkerRoom* room = Look(worker);
      if (room == nullptr) continue;
      Vacate(Entry(worker), *occupant, &room->room);
      Count(worker, room);
      is_enough |= room->ranks >= ask_.shape.ranks;
    }
    return is_enough || sum_ >= ask_.shape.ranks;
  }

  void Choose() {
    Assignments candidates;
    for (const auto& [worker, room] : rooms_) {
      if (room.ranks > 0) candidates.push_back({worker, room.ranks});
    }
    where_ = Fewest(std::move(candidates), ask_.shape.ranks);
  }

  // Whether there is room where it was chosen although the attempt stays; if
  // so, it does.
  bool Spare(int64_t victim) {
    for (const auto& [worker, occupant] : PartsOf(victim)) {
      if (const auto it = rooms_.find(worker); it != rooms_.end()) {
        Occupy(Entry(worker), *occupant, &it->second.room);
        Count(worker, &it->second);
      }
    }
    if (HasRoom()) return true;
    Stop(victim);
    return false;
  }

  const Assignments& where() const { return where_; }

 private:
  struct WorkerRoom {
    Room room;
    int ranks = 0;
  };

  const WorkerEntry& Entry(int worker) const {
    return plan_.tables().workers[worker];
  }

  // Null: the job cannot start there.
  WorkerRoom* Look(int worker) {
    const auto it = rooms_.find(worker);
    if (it != rooms_.end()) return &it->second;
    const Room& room = plan_.RoomAt(worker);
    const bool is_kept = room.reserved && Entry(worker).reserved_for != job_;
    if (is_kept || !IsServing(room) ||
        RanksWhenEmpty(plan_.tables(), shape_, worker) == 0) {
      return nullptr;
    }
    WorkerRoom& added = rooms_[worker];
    added.room = room;
    Count(worker, &added);
    return &added;
  }

  void Count(int worker, WorkerRoom* room) {
    sum_ -= room->ranks;
    room->ranks = RanksIn(Entry(worker), room->room, ask_, stay_);
    sum_ += room->ranks;
  }

  bool HasRoom() const {
    return std::all_of(
        where_.begin(), where_.end(), [&](const Assignment& assignment) {
          return rooms_.at(assignment.worker).ranks >= assignment.ranks;
        });
  }

  std::vector<std::pair<int, const Occupant*>> PartsOf(int64_t victim) const {
    std::vector<std::pair<int, const Occupant*>> parts;
    for (const RunPart& part : plan_.tables().running.at(victim).parts) {
      for (const Occupant& occupant : Entry(part.worker).occupants) {
        if (occupant.job == victim && occupant.rank == part.rank) {
          parts.emplace_back(part.worker, &occupant);
        }
      }
    }
    return parts;
  }

  const Plan& plan_;
  const int64_t job_;
  const int shape_;
  const Ask ask_;
  const Stay stay_;
  std::map<int, WorkerRoom> rooms_;
  int sum_ = 0;
  Assignments where_;
};

}  // namespace

std::vector<Candidate> FindCandidates(const Plan& plan,
                                      const CandidateOptions& options) {
  const Tables& tables = plan.tables();
  const Lane& lane = tables.lanes[options.lane];
  const int kind_id = tables.shapes[lane.shape].kind;
  std::vector<Candidate> candidates;
  for (const auto& [name, queue] : tables.queue_ids) {
    const auto it = tables.queues[queue].kinds.find(kind_id);
    if (it == tables.queues[queue].kinds.end()) continue;
    const QueueKind& kind = it->second;
    const bool is_own = queue == lane.queue;
    if (!is_own && (!options.reclaim ||
                    kind.held - kind.stopping <= kind.quota.guaranteed)) {
      continue;
    }
    int count = 0;
    for (const auto& [priority, job] : kind.attempts) {
      if (count == kMaxCandidates) break;
      if (is_own && priority >= options.priority) break;
      const RunEntry& run = tables.running.at(job);
      if (plan.now() - run.started < plan.options().min_run_time) continue;
      const double age_s = absl::ToDoubleSeconds(plan.now() - run.checkpointed);
      candidates.push_back(
          {job, queue, priority, DevicesOf(tables, run) * age_s});
      ++count;
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) {
              return std::tie(a.priority, a.lost_s, a.job) <
                     std::tie(b.priority, b.lost_s, b.job);
            });
  return candidates;
}

Victims ChooseVictims(const Plan& plan, int64_t job,
                      const std::vector<Candidate>& candidates) {
  const Tables& tables = plan.tables();
  const Lane& lane = tables.lanes[tables.waiting.at(job).lane];
  const int kind = tables.shapes[lane.shape].kind;
  Search search(plan, job);
  // What queues may lose yet.
  std::map<int, int> above;
  Victims victims;
  bool is_enough = false;
  for (const Candidate& candidate : candidates) {
    if (is_enough) break;
    if (candidate.queue != lane.queue) {
      const QueueKind& use = tables.queues[candidate.queue].kinds.at(kind);
      const int devices = DevicesOf(tables, tables.running.at(candidate.job));
      int& left = above
                      .try_emplace(candidate.queue, use.held - use.stopping -
                                                        use.quota.guaranteed)
                      .first->second;
      if (left < devices) continue;
      left -= devices;
    }
    victims.jobs.push_back(candidate.job);
    is_enough = search.Stop(candidate.job);
  }
  if (!is_enough) return {};
  search.Choose();
  victims.where = search.where();
  // The dearest first.
  for (size_t i = victims.jobs.size(); i-- > 0;) {
    if (search.Spare(victims.jobs[i])) {
      victims.jobs.erase(victims.jobs.begin() + i);
    }
  }
  return victims;
}

}  // namespace ordo::scheduler::policy
