#include "scheduler/policy/plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/check.h"
#include "scheduler/policy/classes.h"

namespace ordo::scheduler::policy {
namespace {

// The two indexes of a kind. Workers that hold something back come first: what
// fits there leaves the others to those that do not.
constexpr int kHeldBack = 0;
constexpr int kOpen = 1;

const RoomKeys* KeysOf(const RoomIndex& index, int kind, int which) {
  const auto it = index.find(kind);
  if (it == index.end()) return nullptr;
  return which == kHeldBack ? &it->second.held_back : &it->second.open;
}

bool IsTaken(const Assignments& taken, int worker) {
  return std::any_of(taken.begin(), taken.end(), [&](const Assignment& other) {
    return other.worker == worker;
  });
}

// Those of the worker's devices that are among `avoided`; null: none.
DeviceMask AvoidedOn(const WorkerEntry& worker,
                     const DevicesByWorker* avoided) {
  if (avoided == nullptr) return {};
  const auto it = avoided->find(worker.facts.id);
  if (it == avoided->end()) return {};
  if (!it->second.empty()) return MaskOf(worker, it->second);
  std::set<std::string> all;
  for (const DeviceEntry& device : worker.devices)
    all.insert(device.facts.name);
  return MaskOf(worker, all);
}

// The worker's devices that are picked, those that are to be avoided last.
std::vector<std::string> NamesOf(const WorkerEntry& worker,
                                 const DeviceMask& picked,
                                 const DeviceMask& avoided) {
  std::vector<std::string> names;
  for (const bool is_avoided : {false, true}) {
    for (size_t device = 0; device < worker.devices.size(); ++device) {
      if (!Has(picked, device) || Has(avoided, device) != is_avoided) continue;
      names.push_back(worker.devices[device].facts.name);
    }
  }
  return names;
}

// What a job that waits avoids; null: nothing.
const DevicesByWorker* AvoidedBy(const Tables& tables, int64_t job) {
  const auto it = tables.avoided.find(job);
  return it == tables.avoided.end() ? nullptr : &it->second;
}

}  // namespace

Assignments Fewest(Assignments candidates, int ranks) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Assignment& a, const Assignment& b) {
                     return a.ranks > b.ranks;
                   });
  Assignments chosen;
  for (size_t i = 0; i < candidates.size() && ranks > 0; ++i) {
    if (candidates[i].ranks >= ranks) {
      // The last that has enough is the one that is used up most.
      while (i + 1 < candidates.size() && candidates[i + 1].ranks >= ranks &&
             candidates[i + 1].ranks < candidates[i].ranks) {
        ++i;
      }
    }
    chosen.push_back(
        {candidates[i].worker, std::min(ranks, candidates[i].ranks)});
    ranks -= chosen.back().ranks;
  }
  if (ranks > 0) chosen.clear();
  return chosen;
}

Plan::Plan(const Board& board, absl::Duration now, const PlanOptions& options)
    : board_(board),
      tables_(board.tables()),
      board_options_(board.options()),
      now_(now),
      options_(options),
      open_(tables_.kinds.size(), 0),
      held_back_(tables_.kinds.size(), 0) {}

absl::Duration Plan::EndsBy(int shape, absl::Duration start) const {
  return LatestEnd(tables_.shapes[shape].shape, start, board_options_.grace);
}

bool Plan::HasRoom(int kind) const {
  const KindEntry& entry = tables_.kinds[kind];
  if (entry.num_open + open_[kind] > 0) return true;
  return entry.num_limited_shapes > 0 &&
         entry.num_held_back + held_back_[kind] > 0;
}

bool Plan::IsBlocked(int shape) const {
  const auto it = shapes_.find(shape);
  return it != shapes_.end() && it->second.blocked;
}

const Room& Plan::RoomAt(int worker) const {
  const auto it = touched_.find(worker);
  return it == touched_.end() ? tables_.workers[worker].room : it->second.room;
}

Occupants Plan::OccupantsAt(int worker) const {
  Occupants all;
  for (const Occupant& occupant : tables_.workers[worker].occupants) {
    all.push_back(&occupant);
  }
  const auto it = touched_.find(worker);
  if (it == touched_.end()) return all;
  for (const Occupant& occupant : it->second.added) all.push_back(&occupant);
  return all;
}

Plan::Search Plan::SearchFor(int shape) const {
  const absl::Duration ends_by = EndsBy(shape);
  return {shape,
          AskOf(tables_, shape),
          {ends_by, options_.ignore_reservations},
          options_.ignore_reservations || ends_by < absl::InfiniteDuration()};
}

const RoomKeys* Plan::TouchedKeys(int worker_class, int kind, int which) const {
  const auto it = touched_index_.find(worker_class);
  return it == touched_index_.end() ? nullptr : KeysOf(it->second, kind, which);
}

bool Plan::IsOwn(const Search& search, int worker) const {
  return search.owner != 0 &&
         tables_.workers[worker].reserved_for == search.owner;
}

int Plan::RanksAt(const Search& search, int worker) const {
  const WorkerEntry& entry = tables_.workers[worker];
  const Room& room = RoomAt(worker);
  Stay stay = search.stay;
  stay.owns |= IsOwn(search, worker);
  const DeviceMask avoided = AvoidedOn(entry, search.avoided);
  if (avoided.empty()) return RanksIn(entry, room, search.ask, stay);
  return RanksIn(entry, Without(entry, avoided, room), search.ask, stay);
}

void Plan::Reindex(int worker, int sign) {
  const Room& room = touched_.at(worker).room;
  RoomIndex& index = touched_index_[tables_.workers[worker].worker_class];
  if (sign > 0) {
    AddToIndex(worker, room, &index);
  } else {
    RemoveFromIndex(worker, room, &index);
  }
  for (const KindRoom& kind : room.kinds) {
    open_[kind.kind] += sign * OpenDevices(room, kind);
    if (HoldsBack(room, kind)) held_back_[kind.kind] += sign;
  }
}

Plan::Touched& Plan::Touch(int worker) {
  const auto [it, inserted] = touched_.try_emplace(worker);
  if (!inserted) {
    Reindex(worker, -1);
    return it->second;
  }
  it->second.room = tables_.workers[worker].room;
  // As Reindex does, but for an index in which it is not.
  for (const KindRoom& kind : it->second.room.kinds) {
    open_[kind.kind] -= OpenDevices(it->second.room, kind);
    if (HoldsBack(it->second.room, kind)) --held_back_[kind.kind];
  }
  return it->second;
}

int Plan::FindOne(const Search& search, int ranks, const Assignments& taken,
                  std::vector<Cursor>* cursors) const {
  const std::vector<ClassFit>& fits = tables_.shapes[search.shape].classes;
  const RoomKey least{ranks * search.ask.shape.devices, -1};
  for (const int which : {kHeldBack, kOpen}) {
    if (which == kHeldBack && !search.held_back) continue;
    std::tuple<int, int, int> best;
    int found = -1;
    for (size_t i = 0; i < fits.size(); ++i) {
      if (fits[i].ranks < ranks) continue;
      const WorkerClass& worker_class = tables_.classes[fits[i].worker_class];
      const auto consider = [&](const RoomKey& key) {
        if (IsTaken(taken, key.worker) || RanksAt(search, key.worker) < ranks) {
          return false;
        }
        // Of two classes, the one that fewer shapes can use.
        const std::tuple<int, int, int> rank{worker_class.num_shapes, key.room,
                                             key.worker};
        if (found < 0 || rank < best) {
          best = rank;
          found = key.worker;
        }
        return true;
      };
      if (const RoomKeys* keys =
              KeysOf(worker_class.rooms, search.ask.kind, which)) {
        Cursor* cursor = cursors == nullptr ? nullptr : &(*cursors)[i];
        auto it = cursor != nullptr && cursor->is_set[which]
                      ? cursor->at[which]
                      : keys->lower_bound(least);
        while (it != keys->end() &&
               (touched_.contains(it->worker) || !consider(*it))) {
          ++it;
        }
        if (cursor != nullptr) {
          cursor->at[which] = it;
          cursor->is_set[which] = true;
        }
      }
      if (const RoomKeys* keys =
              TouchedKeys(fits[i].worker_class, search.ask.kind, which)) {
        auto it = keys->lower_bound(least);
        while (it != keys->end() && !consider(*it)) ++it;
      }
    }
    if (found >= 0) return found;
  }
  return -1;
}

Assignments Plan::Spread(const Search& search) const {
  const Shape& shape = search.ask.shape;
  // Otherwise workers with fewer devices may have room for more ranks.
  const bool by_devices = shape.cpus == 0 && shape.memory_bytes == 0;
  struct Candidate {
    int ranks;
    int worker;
  };
  std::vector<Candidate> candidates;
  // Their places in the indexes are those of what others may have of them.
  if (search.owner != 0) {
    for (const auto& [worker, kept] :
         tables_.reservations.at(search.owner).workers) {
      const int ranks = RanksAt(search, worker);
      if (ranks > 0) candidates.push_back({ranks, worker});
    }
  }
  for (const ClassFit& fit : tables_.shapes[search.shape].classes) {
    if (fit.ranks == 0) continue;
    const RoomIndex& rooms = tables_.classes[fit.worker_class].rooms;
    for (const int which : {kHeldBack, kOpen}) {
      if (which == kHeldBack && !search.held_back) continue;
      for (const bool is_touched : {false, true}) {
        const RoomKeys* keys =
            is_touched ? TouchedKeys(fit.worker_class, search.ask.kind, which)
                       : KeysOf(rooms, search.ask.kind, which);
        if (keys == nullptr) continue;
        int sum = 0;
        for (auto it = keys->rbegin(); it != keys->rend(); ++it) {
          if (it->room < shape.devices) break;
          if (!is_touched && touched_.contains(it->worker)) continue;
          const int ranks = RanksAt(search, it->worker);
          if (ranks == 0) continue;
          candidates.push_back({ranks, it->worker});
          sum += ranks;
          const bool is_uniform = !tables_.workers[it->worker].mixed;
          if (by_devices && is_uniform && sum >= shape.ranks) break;
        }
      }
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) {
              return std::tie(b.ranks, a.worker) < std::tie(a.ranks, b.worker);
            });
  Assignments chosen;
  int left = shape.ranks;
  for (const Candidate& candidate : candidates) {
    if (left == 0) break;
    // A worker is in both indexes when only some of it is held back.
    if (IsTaken(chosen, candidate.worker)) continue;
    if (candidate.ranks < left || IsOwn(search, candidate.worker)) {
      const int ranks = std::min(candidate.ranks, left);
      chosen.push_back({candidate.worker, ranks});
      left -= ranks;
      continue;
    }
    chosen.push_back({FindOne(search, left, chosen, nullptr), left});
    left = 0;
  }
  if (left > 0) chosen.clear();
  return chosen;
}

Assignments Plan::Fit(int shape) {
  ShapeState& state = shapes_[shape];
  if (state.blocked) return {};
  const Search search = SearchFor(shape);
  const int ranks = search.ask.shape.ranks;
  state.cursors.resize(tables_.shapes[shape].classes.size());
  const int one = FindOne(search, ranks, {}, &state.cursors);
  if (one >= 0) return {{one, ranks}};
  Assignments several;
  if (ranks > 1) several = Spread(search);
  state.blocked = several.empty();
  return several;
}

Assignments Plan::FitFor(int64_t job, int shape) {
  if (const DevicesByWorker* avoided = AvoidedBy(tables_, job)) {
    Search search = SearchFor(shape);
    search.avoided = avoided;
    const int ranks = search.ask.shape.ranks;
    const int one = FindOne(search, ranks, {}, nullptr);
    if (one >= 0) return {{one, ranks}};
    const Assignments several = ranks > 1 ? Spread(search) : Assignments();
    if (!several.empty()) return several;
  }
  return Fit(shape);
}

Assignments Plan::FitReserved(int64_t job) const {
  const ReservationEntry& reservation = tables_.reservations.at(job);
  const int shape = tables_.lanes[tables_.waiting.at(job).lane].shape;
  const Search search{
      shape, AskOf(tables_, shape), {EndsBy(shape), true}, true};
  Assignments where;
  for (const auto& [worker, ranks] : reservation.workers) {
    if (RanksAt(search, worker) < ranks) return {};
    where.push_back({worker, ranks});
  }
  return where;
}

Assignments Plan::FitBeside(int64_t job) const {
  const ReservationEntry& reservation = tables_.reservations.at(job);
  Search search = SearchFor(tables_.lanes[tables_.waiting.at(job).lane].shape);
  search.owner = job;
  const bool has_any =
      std::any_of(reservation.workers.begin(), reservation.workers.end(),
                  [&](const std::pair<int, int>& reserved) {
                    return RanksAt(search, reserved.first) > 0;
                  });
  return has_any ? Spread(search) : Assignments();
}

Start Plan::Give(const Giving& giving) {
  const auto& [job, shape, where, owns] = giving;
  const Ask ask = AskOf(tables_, shape);
  Start start;
  start.job = job;
  for (const auto& [worker, ranks] : where) {
    const WorkerEntry& entry = tables_.workers[worker];
    Touched& touched = Touch(worker);
    if (owns && entry.reserved_for == job) {
      // Nothing is kept any more once it is used.
      touched.room = RoomOf(entry);
      for (const Occupant& occupant : touched.added) {
        Occupy(entry, occupant, &touched.room);
      }
    }
    for (int i = 0; i < ranks; ++i) {
      Part& part = start.parts.emplace_back();
      part.worker = entry.facts.id;
      part.rank = static_cast<int>(start.parts.size()) - 1;
      const DeviceMask avoided = AvoidedOn(entry, AvoidedBy(tables_, job));
      const DeviceMask devices = PickDevices(entry, touched.room, ask, avoided);
      // The first is the one that the rank computes on.
      part.devices = NamesOf(entry, devices, avoided);
      Occupant occupant = OccupantOf(ask, devices);
      occupant.job = job;
      occupant.rank = part.rank;
      occupant.ends_by = EndsBy(shape);
      Occupy(entry, occupant, &touched.room);
      touched.added.push_back(std::move(occupant));
    }
    Reindex(worker, 1);
  }
  return start;
}

void Plan::Keep(int shape, const Assignments& where, absl::Duration at) {
  for (const auto& [worker, ranks] : where) {
    Touched& touched = Touch(worker);
    policy::Keep(tables_.workers[worker], touched.added,
                 {AskOf(tables_, shape), ranks, at}, &touched.room);
    Reindex(worker, 1);
  }
}

std::vector<int> Plan::MostOpen(int shape, size_t most) const {
  struct Candidate {
    int open;
    int worker;
  };
  std::vector<Candidate> candidates;
  const int kind = tables_.shapes[shape].kind;
  const absl::Duration ends_by = EndsBy(shape);
  const auto add = [&](const RoomKeys* keys, bool is_touched) {
    if (keys == nullptr) return;
    size_t count = 0;
    for (auto it = keys->rbegin(); it != keys->rend() && count < most; ++it) {
      if (!is_touched && touched_.contains(it->worker)) continue;
      const Room& room = RoomAt(it->worker);
      if (room.reserved || !TakesUntil(room, ends_by)) continue;
      candidates.push_back({it->room, it->worker});
      ++count;
    }
  };
  for (const ClassFit& fit : tables_.shapes[shape].classes) {
    if (fit.ranks == 0) continue;
    const RoomIndex& rooms = tables_.classes[fit.worker_class].rooms;
    // What is not reserved holds something back until a drain.
    for (const int which : {kHeldBack, kOpen}) {
      add(KeysOf(rooms, kind, which), false);
      add(TouchedKeys(fit.worker_class, kind, which), true);
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) {
              return std::tie(b.open, a.worker) < std::tie(a.open, b.worker);
            });
  std::vector<int> workers;
  // Some are in both indexes.
  absl::flat_hash_set<int> seen;
  for (const Candidate& candidate : candidates) {
    if (workers.size() == most) break;
    if (!seen.insert(candidate.worker).second) continue;
    workers.push_back(candidate.worker);
  }
  return workers;
}

}  // namespace ordo::scheduler::policy
