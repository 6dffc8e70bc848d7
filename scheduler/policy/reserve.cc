#include "scheduler/policy/reserve.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "scheduler/policy/classes.h"

namespace ordo::scheduler::policy {
namespace {

constexpr int kLeastWorkers = 64;
// Times what the ranks need.
constexpr int kMostWorkers = 4;

// From `at` on, a worker has room for so many ranks.
struct Step {
  absl::Duration at;
  // Of the worker among the candidates.
  size_t index;
  int ranks;
};

struct Walk {
  int shape;
  int worker;
  // What comes later does not matter; nothing: all does.
  std::optional<absl::Duration> until;
};

// Of a job of the shape on the worker: what starts later might run when the
// worker is drained.
absl::Duration LastStart(const Plan& plan, int shape, int worker) {
  const absl::Duration drain_at = plan.RoomAt(worker).drain_at;
  if (drain_at == absl::InfiniteDuration()) return drain_at;
  return drain_at - plan.EndsBy(shape, absl::ZeroDuration());
}

// Calls visit(at, ranks) each time that the worker comes to have room for more
// ranks of the shape, as long as it returns true and as they may start there.
template <typename Visit>
void ForEachStep(const Plan& plan, const Walk& walk, Visit visit) {
  const auto& [shape, worker, until] = walk;
  const WorkerEntry& entry = plan.tables().workers[worker];
  const Ask ask = AskOf(plan.tables(), shape);
  const absl::Duration last_start = LastStart(plan, shape, worker);
  // By when it ends is looked at by its start.
  const Stay stay{plan.now(), /*owns=*/true};
  Room room = plan.RoomAt(worker);
  absl::Duration latest = plan.now();
  int ranks = 0;
  const auto look = [&](absl::Duration at) {
    latest = std::max(latest, at);
    if (latest > last_start) return false;
    const int more = RanksIn(entry, room, ask, stay);
    if (more == ranks) return true;
    ranks = more;
    return visit(latest, ranks);
  };
  if (!look(plan.now())) return;
  // Which takes seconds.
  VacateLingering(entry, &room);
  if (!look(plan.now() + plan.options().grace)) return;
  Occupants occupants = plan.OccupantsAt(worker);
  std::sort(occupants.begin(), occupants.end(),
            [](const Occupant* a, const Occupant* b) {
              return a->ends_by < b->ends_by;
            });
  for (const Occupant* occupant : occupants) {
    if (until.has_value() && occupant->ends_by >= *until) return;
    Vacate(entry, *occupant, &room);
    if (!look(occupant->ends_by)) return;
  }
}

// Of one rank: the first of the workers that has room first.
std::optional<FutureRoom> FindForOne(const Plan& plan, int shape,
                                     const std::vector<int>& workers) {
  std::optional<absl::Duration> first;
  int found = -1;
  for (const int worker : workers) {
    ForEachStep(plan, {shape, worker, first}, [&](absl::Duration at, int) {
      if (!first.has_value() || at < *first) {
        first = at;
        found = worker;
      }
      return false;
    });
  }
  if (!first.has_value()) return std::nullopt;
  return FutureRoom{*first, {{found, 1}}};
}

// Of several ranks, on as few of the workers as have room first.
std::optional<FutureRoom> FindForSeveral(const Plan& plan, int shape,
                                         const std::vector<int>& workers) {
  const int wanted = plan.tables().shapes[shape].shape.ranks;
  // The least there is of a duration.
  const absl::Duration tick = absl::Nanoseconds(1) / 4;
  std::vector<Step> steps;
  for (size_t i = 0; i < workers.size(); ++i) {
    ForEachStep(plan, {shape, workers[i], std::nullopt},
                [&](absl::Duration at, int more) {
                  steps.push_back({at, i, more});
                  return true;
                });
    const absl::Duration last_start = LastStart(plan, shape, workers[i]);
    if (last_start < absl::InfiniteDuration()) {
      steps.push_back({last_start + tick, i, 0});
    }
  }
  // Of one worker in their order, of several by the worker's place.
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.at < b.at; });
  std::vector<int> ranks(workers.size(), 0);
  int sum = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    sum += steps[i].ranks - ranks[steps[i].index];
    ranks[steps[i].index] = steps[i].ranks;
    if (i + 1 < steps.size() && steps[i + 1].at == steps[i].at) continue;
    if (sum < wanted) continue;
    Assignments candidates;
    for (size_t j = 0; j < workers.size(); ++j) {
      if (ranks[j] > 0) candidates.push_back({workers[j], ranks[j]});
    }
    return FutureRoom{steps[i].at, Fewest(std::move(candidates), wanted)};
  }
  return std::nullopt;
}

std::optional<FutureRoom> FindAmong(const Plan& plan, int shape,
                                    const std::vector<int>& workers) {
  return plan.tables().shapes[shape].shape.ranks == 1
             ? FindForOne(plan, shape, workers)
             : FindForSeveral(plan, shape, workers);
}

}  // namespace

bool NeedsReservation(const Shape& shape) {
  return shape.num_devices() > 1 || shape.cpus > 0 || shape.memory_bytes > 0 ||
         shape.exclusive;
}

std::optional<FutureRoom> FindFutureRoom(const Plan& plan, int shape) {
  const ShapeEntry& entry = plan.tables().shapes[shape];
  int most_ranks = 1;
  for (const ClassFit& fit : entry.classes) {
    most_ranks = std::max(most_ranks, fit.ranks);
  }
  const int needed = (entry.shape.ranks + most_ranks - 1) / most_ranks;
  const size_t most = std::max(kLeastWorkers, kMostWorkers * needed);
  const std::vector<int> workers = plan.MostOpen(shape, most);
  std::optional<FutureRoom> room = FindAmong(plan, shape, workers);
  if (room.has_value() || workers.size() < most) return room;
  return FindAmong(plan, shape,
                   plan.MostOpen(shape, plan.tables().workers.size()));
}

bool MayHaveRoom(const Plan& plan, int shape) {
  const Tables& tables = plan.tables();
  if (IsFeasible(tables, shape, absl::InfiniteDuration())) return true;
  std::vector<int> workers;
  for (size_t i = 0; i < tables.workers.size(); ++i) {
    const int worker = static_cast<int>(i);
    if (RanksWhenEmpty(tables, shape, worker) > 0) workers.push_back(worker);
  }
  return FindAmong(plan, shape, workers).has_value();
}

}  // namespace ordo::scheduler::policy
