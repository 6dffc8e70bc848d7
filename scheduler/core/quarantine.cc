#include "scheduler/core/quarantine.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/core/admin.h"
#include "scheduler/core/device_admin.h"
#include "scheduler/core/ranks.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

using workers::v1::DeviceBlame;

bool Overlap(const LiveRank& a, const LiveRank& b) {
  return a.worker == b.worker &&
         std::any_of(a.devices.begin(), a.devices.end(),
                     [&b](const std::string& device) {
                       return std::count(b.devices.begin(), b.devices.end(),
                                         device) > 0;
                     });
}

// Of the attempts before its newest, those ranks that their devices failed and
// that had none of this one's.
std::vector<LiveRank> FailedElsewhere(const JobRecord& job,
                                      const LiveRank& here) {
  std::vector<LiveRank> elsewhere;
  for (const AttemptPtr& attempt : job.attempts) {
    if (attempt == job.attempts.back()) break;
    for (LiveRank& rank : FailedByDevice(*attempt)) {
      if (!Overlap(rank, here)) elsewhere.push_back(std::move(rank));
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

// Empty when the device has none, or is not known now.
std::string UuidOf(const State& state, const std::string& worker,
                   const std::string& device) {
  const auto known = state.workers.find(worker);
  if (known == state.workers.end()) return "";
  const auto announced = known->second.announced.find(device);
  return announced == known->second.announced.end() ? ""
                                                    : announced->second.uuid();
}

void AcquitOf(Turn& turn, const LiveRank& rank, const std::string& job) {
  for (const std::string& device : rank.devices) {
    SetAdmin(turn, rank.worker,
             AcquittedOf(AdminOf(turn.state, rank.worker), device, job));
  }
}

void JudgeFailure(Turn& turn, const RankEnd& end) {
  const JobRecord& job = *turn.state.jobs.at(end.job).job;
  const LiveRank here{end.worker, {end.device}};
  const std::vector<LiveRank> elsewhere = FailedElsewhere(job, here);
  for (const LiveRank& rank : elsewhere) {
    AcquitOf(turn, rank, JobName(end.job));
  }
  if (!elsewhere.empty()) return AcquitOf(turn, here, JobName(end.job));
  DeviceBlame blame;
  blame.set_code(reason::kDeviceError);
  blame.set_job(JobName(end.job));
  blame.set_attempt(job.attempt_number());
  Keep(turn, end.worker,
       Blamed(AdminOf(turn.state, end.worker),
              {end.worker, end.device, turn.now.wall,
               UuidOf(turn.state, end.worker, end.device)},
              blame),
       "failures");
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
    SetAdmin(turn, end.worker,
             Acquitted(AdminOf(turn.state, end.worker), end.device));
  }
}

void FollowDevices(Turn& turn, const Worker& worker) {
  SetAdmin(turn, worker.id,
           Followed(AdminOf(turn.state, worker.id), worker.announced));
}

void TakeFaults(Turn& turn, const Worker& worker) {
  for (const auto& [name, device] : worker.announced) {
    if (device.faults().empty()) continue;
    Keep(turn, worker.id,
         Faulted(AdminOf(turn.state, worker.id),
                 {worker.id, name, turn.now.wall, device.uuid()},
                 device.faults(), HolderOf(turn.state, worker, name)),
         "fault");
  }
}

}  // namespace ordo::scheduler::core
