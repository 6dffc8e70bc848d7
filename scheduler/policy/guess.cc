#include "scheduler/policy/guess.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "scheduler/policy/classes.h"
#include "scheduler/policy/data_roots.h"

namespace ordo::scheduler::policy {
namespace {

// Of a start that workers are drained before.
constexpr int kMaxGuesses = 4;
// What starts later than this from now is not guessed.
constexpr absl::Duration kHorizon = absl::Hours(24 * 365 * 10);

using Ends = std::vector<absl::Duration>;

// How long attempts of the queue took lately; before one has ended: how long
// those will take that have said when they end. 0: nobody knows.
double MeanRunS(const Tables& tables, const QueueKind& use) {
  if (use.mean_run_s > 0) return use.mean_run_s;
  double sum_s = 0;
  int count = 0;
  for (const AttemptKey& attempt : use.attempts) {
    const RunEntry& run = tables.running.at(attempt.job);
    if (run.expected_end == absl::InfiniteDuration()) continue;
    sum_s += absl::ToDoubleSeconds(run.expected_end - run.started);
    ++count;
  }
  return count == 0 ? 0 : sum_s / count;
}

// Seconds that an attempt of the shape may be expected to take where others
// take so many; 0: nobody knows.
double SecondsOf(const Shape& shape, double mean_run_s) {
  if (shape.run_time_limit == absl::ZeroDuration()) return mean_run_s;
  const double limit_s = absl::ToDoubleSeconds(shape.run_time_limit);
  return mean_run_s == 0 ? limit_s : std::min(mean_run_s, limit_s);
}

// Devices as whoever shares them has them: when each of those of one party
// comes free, and when those of the others do, or that they are free.
struct Devices {
  Ends own;
  Ends others;
};

// When those come free that the party has when it may have so many: it waits
// for those that it has too many of, and takes what comes first of what it
// lacks. In their order.
Ends Share(Devices devices, size_t count) {
  Ends ends = std::move(devices.own);
  std::sort(ends.begin(), ends.end());
  std::sort(devices.others.begin(), devices.others.end());
  if (ends.size() >= count) {
    ends.erase(ends.begin(), ends.end() - static_cast<int64_t>(count));
    return ends;
  }
  const size_t more = std::min(count - ends.size(), devices.others.size());
  ends.insert(ends.end(), devices.others.begin(),
              devices.others.begin() + static_cast<int64_t>(more));
  std::sort(ends.begin(), ends.end());
  return ends;
}

// What is before a place.
struct Work {
  // Of its jobs, all of which have devices.
  int64_t devices = 0;
  double device_s = 0;
};

class Guess {
 public:
  // All outlive this.
  Guess(const Board& board, const QueuePlace& place, absl::Duration now)
      : tables_(board.tables()),
        grace_(board.options().grace),
        place_(place),
        now_(now) {}

  // When it starts on workers that take what has ended by then.
  std::optional<absl::Duration> Start(absl::Duration ends_by) const {
    const std::optional<Work> all = WorkBefore(/*of_owner=*/false);
    const std::optional<Work> of_owner = WorkBefore(/*of_owner=*/true);
    if (!all.has_value() || !of_owner.has_value()) return std::nullopt;
    absl::Duration start = now_;
    for (const auto& next :
         {ByQueue(*all, ends_by), ByOwner(*of_owner), ByRoom(ends_by)}) {
      if (!next.has_value()) return std::nullopt;
      start = std::max(start, *next);
    }
    return start;
  }

 private:
  int num_devices() const { return place_.ask.shape.num_devices(); }
  // Of a job that runs.
  const Lane& LaneOf(int64_t job) const {
    return tables_.lanes[tables_.running.at(job).lane];
  }

  // Of the jobs of its queue, or of those of its owner; nothing: nobody knows
  // how long one of them takes. Those that no worker has room for are passed.
  std::optional<Work> WorkBefore(bool of_owner) const {
    Work work;
    const QueueKind* use = UseOf(tables_, place_.queue, place_.ask.kind);
    if (use == nullptr) return work;
    const double mean_run_s = MeanRunS(tables_, *use);
    for (const LaneHead& head : use->lanes) {
      const Lane& lane = tables_.lanes[head.lane];
      if (of_owner && lane.owner != place_.owner) continue;
      const int64_t jobs = lane.jobs.CountBefore(place_.key);
      const Shape& shape = tables_.shapes[lane.shape].shape;
      if (jobs == 0 ||
          !IsFeasible(tables_, lane.shape, LatestEnd(shape, now_, grace_))) {
        continue;
      }
      const double seconds = SecondsOf(shape, mean_run_s);
      if (seconds == 0) return std::nullopt;
      work.devices += jobs * shape.num_devices();
      work.device_s +=
          static_cast<double>(jobs * shape.num_devices()) * seconds;
    }
    return work;
  }

  // Offered ones of the place's kind on workers that take what has ended by
  // then; its own are those that its queue holds.
  Devices DevicesFor(absl::Duration ends_by) const {
    Devices devices;
    for (const WorkerEntry& worker : tables_.workers) {
      if (worker.worker_class < 0 || !TakesUntil(worker.room, ends_by)) {
        continue;
      }
      for (const DeviceEntry& device : worker.devices) {
        if (device.kind != place_.ask.kind || !device.given ||
            !device.facts.offered) {
          continue;
        }
        if (device.job == 0) {
          devices.others.push_back(now_);
          continue;
        }
        const bool is_own = LaneOf(device.job).queue == place_.queue;
        (is_own ? devices.own : devices.others)
            .push_back(ExpectedEnd(tables_, device.job, now_));
      }
    }
    return devices;
  }

  // Of so many devices, those that are due to the place's queue.
  double PartOf(double all) const {
    const QueueEntry& queue = tables_.queues[place_.queue];
    const std::set<int>& queues = tables_.kinds[place_.ask.kind].queues;
    // It counts although no job of it may wait yet.
    double weights = queues.count(place_.queue) > 0 ? 0 : queue.weight;
    for (const int other : queues) weights += tables_.queues[other].weight;
    const QueueKind* use = UseOf(tables_, place_.queue, place_.ask.kind);
    const Quota quota = use == nullptr ? Quota() : use->quota;
    const double part = std::max<double>(
        all * queue.weight / weights, std::min<double>(quota.guaranteed, all));
    return quota.limit.has_value() ? std::min<double>(part, *quota.limit)
                                   : part;
  }

  // When devices that come free then, each of which then serves the work
  // before the place, are left for it. The jobs are taken as if all took as
  // long: one device after the other comes free again after that time.
  std::optional<absl::Duration> LeftOf(Ends ends, const Work& work) const {
    ends.erase(std::lower_bound(ends.begin(), ends.end(), now_ + kHorizon),
               ends.end());
    if (ends.size() < static_cast<size_t>(num_devices())) return std::nullopt;
    if (work.devices == 0) return ends[num_devices() - 1];
    const double mean_s = work.device_s / static_cast<double>(work.devices);
    const int64_t each_ms = absl::ToInt64Milliseconds(
        std::clamp(absl::Seconds(mean_s), absl::Milliseconds(1), kHorizon));
    std::vector<int64_t> ends_ms;
    for (const absl::Duration end : ends) {
      ends_ms.push_back(absl::ToInt64Milliseconds(
          absl::Ceil(end - now_, absl::Milliseconds(1))));
    }
    const int64_t wanted = work.devices + num_devices();
    // Whether as many have come free by then as the work and the job take.
    const auto suffices = [&](int64_t at_ms) {
      int64_t times = 0;
      for (const int64_t end_ms : ends_ms) {
        if (end_ms > at_ms) break;
        times += (at_ms - end_ms) / each_ms + 1;
        if (times >= wanted) return true;
      }
      return false;
    };
    int64_t low = -1;
    int64_t high = absl::ToInt64Milliseconds(kHorizon);
    if (!suffices(high)) return std::nullopt;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (suffices(middle) ? high : low) = middle;
    }
    return now_ + absl::Milliseconds(high);
  }

  // By the devices that its queue may have.
  std::optional<absl::Duration> ByQueue(Work work,
                                        absl::Duration ends_by) const {
    Devices devices = DevicesFor(ends_by);
    const size_t all = devices.own.size() + devices.others.size();
    const double part = PartOf(static_cast<double>(all));
    if (part <= 0) return std::nullopt;
    const double count =
        std::min<double>(static_cast<double>(all),
                         std::max<double>(std::ceil(part), num_devices()));
    // What is not due to it serves it for a part of the time.
    work.device_s *= std::max(1.0, count / part);
    return LeftOf(Share(std::move(devices), static_cast<size_t>(count)), work);
  }

  // By the devices that its owner may have.
  std::optional<absl::Duration> ByOwner(const Work& work) const {
    const QueueEntry& queue = tables_.queues[place_.queue];
    if (!queue.max_per_owner.has_value()) return now_;
    const int64_t most = *queue.max_per_owner;
    const auto use = queue.owners.find(place_.owner);
    const int held = use == queue.owners.end() ? 0 : use->second.held;
    if (held + work.devices + num_devices() <= most) return now_;
    Devices devices;
    for (const WorkerEntry& worker : tables_.workers) {
      for (const DeviceEntry& device : worker.devices) {
        if (device.job == 0) continue;
        const Lane& lane = LaneOf(device.job);
        if (lane.queue == place_.queue && lane.owner == place_.owner) {
          devices.own.push_back(ExpectedEnd(tables_, device.job, now_));
        }
      }
    }
    devices.others.assign(std::max<int64_t>(0, most - held), now_);
    return LeftOf(Share(std::move(devices), static_cast<size_t>(most)), work);
  }

  // When the attempts that run have left room for all ranks, as if nothing
  // were kept.
  std::optional<absl::Duration> ByRoom(absl::Duration ends_by) const {
    // Ranks that there comes to be room for then.
    std::vector<std::pair<absl::Duration, int>> ranks;
    for (const WorkerEntry& worker : tables_.workers) {
      if (worker.worker_class >= 0 && Admits(worker, place_.ask)) {
        AddRanks(worker, ends_by, &ranks);
      }
    }
    std::sort(ranks.begin(), ranks.end());
    int64_t sum = 0;
    for (const auto& [at, more] : ranks) {
      sum += more;
      if (sum >= place_.ask.shape.ranks) return at;
    }
    return std::nullopt;
  }

  void AddRanks(const WorkerEntry& worker, absl::Duration ends_by,
                std::vector<std::pair<absl::Duration, int>>* ranks) const {
    Room room = RoomOf(worker);
    int known = 0;
    const auto look = [&](absl::Duration at) {
      const int has = RanksIn(worker, room, place_.ask, {ends_by, true});
      if (has > known) ranks->push_back({at, has - known});
      known = std::max(known, has);
      return known < place_.ask.shape.ranks;
    };
    // Which takes seconds.
    VacateLingering(worker, &room);
    if (!look(now_)) return;
    std::vector<std::pair<absl::Duration, const Occupant*>> occupants;
    for (const Occupant& occupant : worker.occupants) {
      occupants.emplace_back(ExpectedEnd(tables_, occupant.job, now_),
                             &occupant);
    }
    std::sort(occupants.begin(), occupants.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [end, occupant] : occupants) {
      if (end > now_ + kHorizon) return;
      Vacate(worker, *occupant, &room);
      if (!look(end)) return;
    }
  }

  const Tables& tables_;
  const absl::Duration grace_;
  const QueuePlace& place_;
  const absl::Duration now_;
};

}  // namespace

const QueueKind* UseOf(const Tables& tables, int queue, int kind) {
  const auto& kinds = tables.queues[queue].kinds;
  const auto it = kinds.find(kind);
  return it == kinds.end() ? nullptr : &it->second;
}

absl::Duration ExpectedEnd(const Tables& tables, int64_t job,
                           absl::Duration now) {
  const RunEntry& run = tables.running.at(job);
  const Lane& lane = tables.lanes[run.lane];
  const ShapeEntry& shape = tables.shapes[lane.shape];
  absl::Duration end = run.expected_end;
  const QueueKind* use = UseOf(tables, lane.queue, shape.kind);
  if (end == absl::InfiniteDuration() && use != nullptr &&
      use->mean_run_s > 0) {
    const absl::Duration passed = now - run.started;
    const absl::Duration mean = absl::Seconds(use->mean_run_s);
    end = passed < mean ? run.started + mean : now + passed;
  }
  const absl::Duration limit =
      LatestEnd(shape.shape, run.started, absl::ZeroDuration());
  return std::max(now, std::min(end, limit));
}

bool Admits(const WorkerEntry& worker, const Ask& ask) {
  const Worker& facts = worker.facts;
  const auto has = [&facts](const auto& label) {
    const auto it = facts.labels.find(label.first);
    return it != facts.labels.end() && it->second == label.second;
  };
  const auto& labels = ask.shape.labels;
  return std::all_of(labels.begin(), labels.end(), has) &&
         MayRead(facts.data_roots, ask.shape.data_paths) &&
         (ask.shape.ranks == 1 ||
          facts.single_rank_kinds.count(ask.shape.kind) == 0);
}

std::optional<absl::Duration> GuessStart(const Board& board,
                                         const QueuePlace& place,
                                         absl::Duration now) {
  // The later it starts, the fewer workers are drained late enough.
  const Shape& shape = place.ask.shape;
  const Guess guess(board, place, now);
  absl::Duration ends_by = LatestEnd(shape, now, board.options().grace);
  for (int i = 0; i < kMaxGuesses; ++i) {
    const std::optional<absl::Duration> start = guess.Start(ends_by);
    if (!start.has_value()) return std::nullopt;
    const absl::Duration later =
        LatestEnd(shape, *start, board.options().grace);
    if (later == ends_by) return start;
    ends_by = later;
  }
  return std::nullopt;
}

}  // namespace ordo::scheduler::policy
