#include "scheduler/core/quarantine.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/admin.h"
#include "scheduler/core/device_admin.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

using jobs::v1::Attempt;
using workers::v1::DeviceBlame;

// Where a rank ran.
struct Place {
  std::string worker;
  std::vector<std::string> devices;
};

bool Overlap(const Place& a, const Place& b) {
  return a.worker == b.worker &&
         std::any_of(a.devices.begin(), a.devices.end(),
                     [&b](const std::string& device) {
                       return std::count(b.devices.begin(), b.devices.end(),
                                         device) > 0;
                     });
}

template <typename T>
Place PlaceOf(const T& ran) {
  return {ran.worker(), {ran.devices().begin(), ran.devices().end()}};
}

// Where ranks of an attempt ended that their devices failed.
std::vector<Place> FailedOn(const Attempt& attempt) {
  std::vector<Place> places;
  if (attempt.ranks().empty() && attempt.reason() == reason::kDeviceError) {
    places.push_back(PlaceOf(attempt));
  }
  for (const Attempt::Rank& rank : attempt.ranks()) {
    if (rank.reason() == reason::kDeviceError) places.push_back(PlaceOf(rank));
  }
  return places;
}

// Of the attempts before its newest, those places that have no device of this
// one.
std::vector<Place> FailedElsewhere(const JobRecord& job, const Place& here) {
  std::vector<Place> elsewhere;
  for (const AttemptPtr& attempt : job.attempts) {
    if (attempt == job.attempts.back()) break;
    for (Place& place : FailedOn(*attempt)) {
      if (!Overlap(place, here)) elsewhere.push_back(std::move(place));
    }
  }
  return elsewhere;
}

// Keeps the record of a worker, and counts a device that comes into quarantine.
void Keep(Turn& turn, const std::string& worker, const WorkerAdminPtr& admin,
          const char* cause) {
  const size_t before = QuarantinedIn(AdminOf(turn.state, worker)).size();
  SetAdmin(turn, worker, admin);
  if (QuarantinedIn(admin).size() > before) {
    turn.Counted(Count::What::kQuarantine, cause);
  }
}

void AcquitOf(Turn& turn, const Place& place, const std::string& job) {
  for (const std::string& device : place.devices) {
    SetAdmin(turn, place.worker,
             AcquittedOf(AdminOf(turn.state, place.worker), device, job));
  }
}

void JudgeFailure(Turn& turn, const RankEnd& end) {
  const JobRecord& job = *turn.state.jobs.at(end.job).job;
  const Place here{end.worker, end.devices};
  const std::vector<Place> elsewhere = FailedElsewhere(job, here);
  for (const Place& place : elsewhere) AcquitOf(turn, place, JobName(end.job));
  if (!elsewhere.empty()) return AcquitOf(turn, here, JobName(end.job));
  DeviceBlame blame;
  blame.set_code(reason::kDeviceError);
  blame.set_job(JobName(end.job));
  blame.set_attempt(job.attempt_number());
  for (const std::string& device : end.devices) {
    Keep(turn, end.worker,
         Blamed(AdminOf(turn.state, end.worker),
                {end.worker, device, turn.now.wall}, blame),
         "failures");
  }
}

// The attempt that has the device; empty when none has.
DeviceBlame HolderOf(const State& state, const Worker& worker,
                     const std::string& device) {
  DeviceBlame held;
  for (const auto& [id, rank] : worker.live) {
    const JobEntry& entry = state.jobs.at(id);
    const auto& devices = LiveIn(entry)->ranks[rank].devices;
    if (std::count(devices.begin(), devices.end(), device) == 0) continue;
    held.set_job(JobName(id));
    held.set_attempt(entry.job->attempt_number());
  }
  return held;
}

}  // namespace

void JudgeDevices(Turn& turn) {
  for (const RankEnd& end : std::exchange(turn.rank_ends, {})) {
    if (!end.finished) {
      JudgeFailure(turn, end);
      continue;
    }
    for (const std::string& device : end.devices) {
      SetAdmin(turn, end.worker,
               Acquitted(AdminOf(turn.state, end.worker), device));
    }
  }
}

void TakeFaults(Turn& turn, const Worker& worker) {
  for (const auto& [name, device] : worker.announced) {
    if (device.faults().empty()) continue;
    Keep(turn, worker.id,
         Faulted(AdminOf(turn.state, worker.id),
                 {worker.id, name, turn.now.wall}, device.faults(),
                 HolderOf(turn.state, worker, name)),
         "fault");
  }
}

}  // namespace ordo::scheduler::core
