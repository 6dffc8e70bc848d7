#include "scheduler/policy/reserve.h"

#include <algorithm>
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

// All of one worker.
std::vector<Step> StepsOf(const Plan& plan, int shape, int worker) {
  const WorkerEntry& entry = plan.tables().workers[worker];
  const Ask ask = AskOf(plan.tables(), shape);
  // When it ends itself does not matter here: the worker serves.
  const Stay stay{plan.now(), /*owns=*/true};
  Room room = plan.RoomAt(worker);
  std::vector<Step> steps;
  const auto add = [&](absl::Duration at) {
    const int ranks = RanksIn(entry, room, ask, stay);
    if (ranks == (steps.empty() ? 0 : steps.back().ranks)) return;
    steps.push_back({std::max(at, plan.now()), 0, ranks});
  };
  add(plan.now());
  // Which takes seconds.
  VacateLingering(entry, &room);
  add(plan.now() + plan.options().grace);
  std::vector<Occupant> occupants = plan.OccupantsAt(worker);
  std::sort(occupants.begin(), occupants.end(),
            [](const Occupant& a, const Occupant& b) {
              return a.ends_by < b.ends_by;
            });
  for (const Occupant& occupant : occupants) {
    Vacate(entry, occupant, &room);
    add(occupant.ends_by);
  }
  return steps;
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
  const std::vector<int> workers =
      plan.MostOpen(shape, std::max(kLeastWorkers, kMostWorkers * needed));
  std::vector<Step> steps;
  for (size_t i = 0; i < workers.size(); ++i) {
    for (Step step : StepsOf(plan, shape, workers[i])) {
      step.index = i;
      steps.push_back(step);
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
    if (sum < entry.shape.ranks) continue;
    Assignments candidates;
    for (size_t j = 0; j < workers.size(); ++j) {
      if (ranks[j] > 0) candidates.push_back({workers[j], ranks[j]});
    }
    return FutureRoom{steps[i].at,
                      Fewest(std::move(candidates), entry.shape.ranks)};
  }
  return std::nullopt;
}

}  // namespace ordo::scheduler::policy
