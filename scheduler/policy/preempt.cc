#include "scheduler/policy/preempt.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "scheduler/policy/classes.h"

namespace ordo::scheduler::policy {
namespace {

// Attempts that are looked at, at most; for each device that is wanted, if that
// is more.
constexpr int kMaxLooks = 128;
constexpr int kLooksPerDevice = 4;
// Of these, those for which others of their workers are looked at.
constexpr int kMaxCompanies = 16;
// Workers that have some room already.
constexpr size_t kMaxWorkers = 64;

// Room as it is when attempts stop.
class Search {
 public:
  // The plan outlives it.
  Search(const Plan& plan, int64_t job)
      : plan_(plan),
        job_(job),
        shape_(plan.tables().lanes[plan.tables().waiting.at(job).lane].shape),
        ask_(AskOf(plan.tables(), shape_)),
        stay_{plan.EndsBy(shape_, plan.now() + plan.options().grace),
              /*owns=*/true} {
    for (const int worker : plan.MostOpen(shape_, kMaxWorkers)) {
      if (RanksIn(Entry(worker), plan.RoomAt(worker), ask_, stay_) > 0) {
        Look(worker);
      }
    }
    // What is free of what is kept for it stops nobody.
    const auto kept = plan_.tables().reservations.find(job);
    if (kept == plan_.tables().reservations.end()) return;
    for (const auto& [worker, ranks] : kept->second.workers) Look(worker);
  }

  // Ranks that there is room for.
  int ranks() const { return ranks_; }
  bool IsEnough() const { return ranks_ >= ask_.shape.ranks; }

  // Whether the job may start there.
  bool IsUsable(int worker) const {
    const Room& room = plan_.RoomAt(worker);
    const bool is_kept = room.reserved && Entry(worker).reserved_for != job_;
    return !is_kept && TakesUntil(room, stay_.ends_by) &&
           RanksWhenEmpty(plan_.tables(), shape_, worker) > 0;
  }

  // Whether the worker has as many devices as a rank wants, if all candidates
  // there stop.
  bool HasDevices(int worker, const Candidates& candidates) const {
    if (!IsUsable(worker)) return false;
    const WorkerEntry& entry = Entry(worker);
    int devices = 0;
    for (const DeviceEntry& device : entry.devices) {
      if (device.kind == ask_.kind && device.job == 0) ++devices;
    }
    for (const Occupant& occupant : entry.occupants) {
      if (devices >= ask_.shape.devices) break;
      if (!candidates.Of(occupant).has_value()) continue;
      for (const uint64_t word : occupant.devices) {
        devices += __builtin_popcountll(word);
      }
    }
    return devices >= ask_.shape.devices;
  }

  // Frees what an attempt has, or takes it again.
  void Stop(int64_t victim) {
    for (const auto& [worker, occupant] : PartsOf(victim)) {
      WorkerRoom* room = Look(worker);
      if (room == nullptr) continue;
      Vacate(Entry(worker), *occupant, &room->room);
      Count(worker, room);
    }
  }
  void Resume(int64_t victim) {
    for (const auto& [worker, occupant] : PartsOf(victim)) {
      const auto it = rooms_.find(worker);
      if (it == rooms_.end()) continue;
      Occupy(Entry(worker), *occupant, &it->second.room);
      Count(worker, &it->second);
    }
  }

  void Choose() {
    Assignments candidates;
    for (const auto& [worker, room] : rooms_) {
      if (room.ranks > 0) candidates.push_back({worker, room.ranks});
    }
    where_ = Fewest(std::move(candidates), ask_.shape.ranks);
  }
  const Assignments& where() const { return where_; }

  // Whether there is room where it was chosen although the attempt stays; if
  // so, it does.
  bool Spare(int64_t victim) {
    Resume(victim);
    if (HasRoom()) return true;
    Stop(victim);
    return false;
  }

 private:
  struct WorkerRoom {
    Room room;
    int ranks = 0;
  };

  const WorkerEntry& Entry(int worker) const {
    return plan_.tables().workers[worker];
  }

  // Null: the job may not start there.
  WorkerRoom* Look(int worker) {
    const auto it = rooms_.find(worker);
    if (it != rooms_.end()) return &it->second;
    if (!IsUsable(worker)) return nullptr;
    WorkerRoom& added = rooms_[worker];
    added.room = plan_.RoomAt(worker);
    Count(worker, &added);
    return &added;
  }

  void Count(int worker, WorkerRoom* room) {
    ranks_ -= room->ranks;
    room->ranks = RanksIn(Entry(worker), room->room, ask_, stay_);
    ranks_ += room->ranks;
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
  // From when all that stops has stopped.
  const Stay stay_;
  std::map<int, WorkerRoom> rooms_;
  int ranks_ = 0;
  Assignments where_;
};

// Who stops for one job.
class Choice {
 public:
  // All outlive it.
  Choice(const Plan& plan, const VictimOptions& options, const Stopped& stopped)
      : tables_(plan.tables()),
        lane_(tables_.lanes[tables_.waiting.at(options.job).lane]),
        candidates_(plan, options),
        search_(plan, options.job),
        stopped_(stopped) {}

  Victims Make() {
    const Shape& shape = tables_.shapes[lane_.shape].shape;
    const int looks =
        std::max(kMaxLooks, kLooksPerDevice * shape.num_devices());
    for (int i = 0; i < looks && !search_.IsEnough(); ++i) {
      const std::optional<Candidate> candidate = candidates_.Next();
      if (!candidate.has_value()) break;
      if (MayStop(*candidate)) Extend(*candidate);
    }
    if (!search_.IsEnough()) return {};
    search_.Choose();
    // The dearest first.
    for (size_t i = victims_.size(); i-- > 0;) {
      if (!search_.Spare(victims_[i])) continue;
      Forget(victims_[i]);
      victims_.erase(victims_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return {victims_, search_.where()};
  }

  // With those that stop for this job.
  const Stopped& stopped() const { return stopped_; }

 private:
  int QueueOf(const RunEntry& run) const {
    return tables_.lanes[run.lane].queue;
  }

  int DevicesOf(const RunEntry& run) const {
    return static_cast<int>(run.parts.size()) *
           tables_.shapes[tables_.lanes[run.lane].shape].shape.devices;
  }

  // Whether it goes on so far, and its queue keeps what it is guaranteed
  // without it.
  bool MayStop(const Candidate& candidate) const {
    if (stopped_.jobs.count(candidate.job) > 0) return false;
    if (candidate.queue == lane_.queue) return true;
    const QueueKind& use = tables_.queues[candidate.queue].kinds.at(
        tables_.shapes[lane_.shape].kind);
    const auto lost = stopped_.devices.find(candidate.queue);
    const int left = use.held - use.stopping - use.quota.guaranteed -
                     (lost == stopped_.devices.end() ? 0 : lost->second);
    return left >= DevicesOf(tables_.running.at(candidate.job));
  }

  void Note(int64_t job) {
    const RunEntry& run = tables_.running.at(job);
    stopped_.jobs.insert(job);
    stopped_.devices[QueueOf(run)] += DevicesOf(run);
    search_.Stop(job);
    victims_.push_back(job);
  }

  void Forget(int64_t job) {
    const RunEntry& run = tables_.running.at(job);
    stopped_.jobs.erase(job);
    stopped_.devices[QueueOf(run)] -= DevicesOf(run);
  }

  // The attempt stops if there is room for more ranks then, with others of its
  // workers if need be.
  void Extend(const Candidate& candidate) {
    const int wanted = tables_.shapes[lane_.shape].shape.devices;
    const bool has_company = num_companies_ < kMaxCompanies;
    if (candidate.devices < wanted && !has_company) return;
    const auto& parts = tables_.running.at(candidate.job).parts;
    const bool may_do_alone =
        wanted == 1 || (parts.size() == 1 && candidate.devices >= wanted);
    if (!may_do_alone && !has_company) return;
    if (!may_do_alone) ++num_companies_;
    const auto may_do = [&](const RunPart& part) {
      return may_do_alone ? search_.IsUsable(part.worker)
                          : search_.HasDevices(part.worker, candidates_);
    };
    if (std::none_of(parts.begin(), parts.end(), may_do)) return;
    const int before = search_.ranks();
    const size_t num_before = victims_.size();
    Note(candidate.job);
    if (search_.ranks() == before && has_company) {
      if (may_do_alone) ++num_companies_;
      AddCompany(parts, before);
    }
    if (search_.ranks() > before) return;
    while (victims_.size() > num_before) {
      search_.Resume(victims_.back());
      Forget(victims_.back());
      victims_.pop_back();
    }
  }

  // Stops others on the workers until there is room for more ranks.
  template <typename Parts>
  void AddCompany(const Parts& parts, int before) {
    for (const RunPart& part : parts) {
      for (const Candidate& other : OthersOn(part.worker)) {
        if (!MayStop(other)) continue;
        Note(other.job);
        if (search_.ranks() > before) return;
      }
    }
  }

  std::vector<Candidate> OthersOn(int worker) const {
    std::vector<Candidate> others;
    for (const Occupant& occupant : tables_.workers[worker].occupants) {
      const std::optional<Candidate> other = candidates_.Of(occupant);
      if (other.has_value()) others.push_back(*other);
    }
    std::sort(others.begin(), others.end());
    return others;
  }

  const Tables& tables_;
  const Lane& lane_;
  Candidates candidates_;
  Search search_;
  Stopped stopped_;
  std::vector<int64_t> victims_;
  int num_companies_ = 0;
};

}  // namespace

Victims ChooseVictims(const Plan& plan, const VictimOptions& options,
                      Stopped* stopped) {
  Choice choice(plan, options, *stopped);
  Victims victims = choice.Make();
  if (!victims.jobs.empty()) *stopped = choice.stopped();
  return victims;
}

}  // namespace ordo::scheduler::policy
