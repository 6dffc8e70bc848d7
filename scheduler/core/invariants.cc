#include "scheduler/core/invariants.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/references.h"

// Returns an error that names `what` unless `condition` holds.
#define ORDO_HOLDS(condition, what)                                  \
  if (!(condition)) {                                                \
    return absl::InternalError(absl::StrCat(what, ": " #condition)); \
  }

namespace ordo::scheduler::core {
namespace {

using jobs::v1::Job;

absl::Status CheckQueued(const State& state, const JobEntry& entry,
                         const Queued& queued) {
  const JobRecord& job = *entry.job;
  const JobFacts& facts = *job.facts;
  const std::string& id = facts.id;
  ORDO_HOLDS(job.state == Job::QUEUED, id);
  const auto jobs = state.waiting.find(facts.need);
  const bool waits = jobs != state.waiting.end() &&
                     jobs->second.count(facts.sequence) > 0 &&
                     jobs->second.at(facts.sequence) == id;
  const bool backs_off =
      queued.not_before.has_value() &&
      state.deadlines.count(
          {*queued.not_before, Deadline::Kind::kBackoff, id}) > 0;
  ORDO_HOLDS(waits != backs_off, id);
  ORDO_HOLDS(backs_off == (job.not_before_ns != 0), id);
  ORDO_HOLDS(job.incarnation.empty() && job.acknowledged_records == 0, id);
  return absl::OkStatus();
}

absl::Status CheckLive(const State& state, const JobEntry& entry,
                       const Live& live) {
  const JobRecord& job = *entry.job;
  const std::string& id = job.id();
  ORDO_HOLDS(job.state == Job::STARTING || job.state == Job::RUNNING ||
                 job.state == Job::CANCELLING,
             id);
  const auto worker = state.workers.find(live.worker);
  ORDO_HOLDS(worker != state.workers.end(), id);
  ORDO_HOLDS(worker->second.live.count(id) > 0, id);
  ORDO_HOLDS(!job.attempts.empty(), id);
  const jobs::v1::Attempt& attempt = job.newest_attempt();
  ORDO_HOLDS(!attempt.has_end_time(), id);
  ORDO_HOLDS(attempt.worker() == live.worker, id);
  ORDO_HOLDS(attempt.devices_size() == 1 && attempt.devices(0) == live.device,
             id);
  return absl::OkStatus();
}

absl::Status CheckPlace(const State& state, const JobEntry& entry) {
  if (const auto* queued = std::get_if<Queued>(&entry.place)) {
    return CheckQueued(state, entry, *queued);
  }
  if (const auto* live = std::get_if<Live>(&entry.place)) {
    return CheckLive(state, entry, *live);
  }
  const std::string& id = entry.job->id();
  ORDO_HOLDS(IsTerminal(entry.job->state), id);
  ORDO_HOLDS(entry.job->end_ns != 0, id);
  return absl::OkStatus();
}

absl::Status CheckAttempts(const JobEntry& entry) {
  const JobRecord& job = *entry.job;
  const std::string& id = job.id();
  int32_t previous = 0;
  for (size_t i = 0; i < job.attempts.size(); ++i) {
    const jobs::v1::Attempt& attempt = *job.attempts[i];
    ORDO_HOLDS(attempt.number() > previous, id);
    previous = attempt.number();
    const bool may_be_live = std::holds_alternative<Live>(entry.place) &&
                             i + 1 == job.attempts.size();
    ORDO_HOLDS(attempt.has_end_time() != may_be_live, id);
    ORDO_HOLDS(attempt.has_end_time() != attempt.reason().empty(), id);
  }
  const int max_attempts = job.facts->max_attempts;
  ORDO_HOLDS(job.failed_attempts <= max_attempts, id);
  ORDO_HOLDS(job.failed_attempts < max_attempts || IsTerminal(job.state), id);
  return absl::OkStatus();
}

absl::Status CheckArtifacts(const State& state, const JobEntry& entry) {
  const std::string& id = entry.job->id();
  const int32_t newest_attempt = entry.job->attempt_number();
  const int keep = entry.job->facts->keep;
  int num_available = 0;
  for (auto it = entry.checkpoints.rbegin(); it != entry.checkpoints.rend();
       ++it) {
    const auto& checkpoint = *it->second;
    ORDO_HOLDS(checkpoint.name() == CheckpointName(id, CheckpointId(it->first)),
               id);
    ORDO_HOLDS(checkpoint.attempt() <= newest_attempt, id);
    if (checkpoint.state() != checkpoints::v1::Checkpoint::AVAILABLE) continue;
    ORDO_HOLDS(
        num_available++ < keep || state.pins.count(checkpoint.name()) > 0, id);
  }
  for (const auto& [report_id, report] : entry.reports) {
    ORDO_HOLDS(report->name() == ReportName(id, report_id), id);
    ORDO_HOLDS(report->attempt() <= newest_attempt, id);
  }
  return absl::OkStatus();
}

absl::Status CheckJobs(const State& state) {
  std::set<int64_t> sequences;
  size_t num_waiting = 0;
  size_t num_live = 0;
  size_t num_request_ids = 0;
  for (const auto& [id, entry] : state.jobs) {
    const JobFacts& facts = *entry.job->facts;
    ORDO_HOLDS(facts.id == id, id);
    ORDO_HOLDS(facts.sequence < state.next_sequence, id);
    ORDO_HOLDS(sequences.insert(facts.sequence).second, id);
    ORDO_RETURN_IF_ERROR(CheckPlace(state, entry));
    ORDO_RETURN_IF_ERROR(CheckAttempts(entry));
    ORDO_RETURN_IF_ERROR(CheckArtifacts(state, entry));
    const auto* queued = std::get_if<Queued>(&entry.place);
    num_waiting += queued != nullptr && !queued->not_before.has_value();
    num_live += std::holds_alternative<Live>(entry.place);
    if (facts.request_id.empty()) continue;
    ++num_request_ids;
    const auto request = state.request_ids.find(facts.request_id);
    ORDO_HOLDS(request != state.request_ids.end() && request->second == id, id);
  }
  for (const auto& [need, jobs] : state.waiting) {
    ORDO_HOLDS(!jobs.empty(), need.kind);
    num_waiting -= jobs.size();
  }
  for (const auto& [id, worker] : state.workers) num_live -= worker.live.size();
  ORDO_HOLDS(num_waiting == 0, "waiting jobs");
  ORDO_HOLDS(num_live == 0, "live jobs");
  ORDO_HOLDS(num_request_ids == state.request_ids.size(), "request ids");
  return absl::OkStatus();
}

absl::Status CheckPins(const State& state) {
  std::map<std::string, std::set<std::string>> pins;
  for (const auto& [id, entry] : state.jobs) {
    if (IsTerminal(entry.job->state)) continue;
    for (const std::string& name : entry.job->facts->references) {
      pins[name].insert(id);
      const CheckpointPtr checkpoint = FindCheckpoint(state, name);
      ORDO_HOLDS(checkpoint != nullptr, name);
      ORDO_HOLDS(checkpoint->state() == checkpoints::v1::Checkpoint::AVAILABLE,
                 name);
    }
  }
  ORDO_HOLDS(pins == state.pins, "pins");
  return absl::OkStatus();
}

absl::Status CheckWorkerDeadlines(const State& state, const Worker& worker) {
  const auto is_set = [&](Deadline::Kind kind,
                          const std::optional<absl::Duration>& at) {
    return at.has_value() && state.deadlines.count({*at, kind, worker.id}) > 0;
  };
  const bool online = worker.liveness == Worker::Liveness::kOnline;
  const bool lost = worker.liveness == Worker::Liveness::kLost;
  ORDO_HOLDS(is_set(Deadline::Kind::kLease, worker.lease_at) == !lost,
             worker.id);
  ORDO_HOLDS(is_set(Deadline::Kind::kHeartbeat, worker.heartbeat_at) == online,
             worker.id);
  ORDO_HOLDS(is_set(Deadline::Kind::kForget, worker.forget_at) == lost,
             worker.id);
  ORDO_HOLDS(!lost || worker.live.empty(), worker.id);
  return absl::OkStatus();
}

absl::Status CheckWorkers(const State& state) {
  policy::FreeDevices free;
  for (const auto& [id, worker] : state.workers) {
    ORDO_HOLDS(worker.id == id, id);
    std::set<std::string> held = worker.lingering;
    std::set<std::string> live_devices;
    for (const std::string& job : worker.live) {
      const auto entry = state.jobs.find(job);
      ORDO_HOLDS(entry != state.jobs.end(), job);
      const Live* live = std::get_if<Live>(&entry->second.place);
      ORDO_HOLDS(live != nullptr && live->worker == id, job);
      ORDO_HOLDS(live_devices.insert(live->device).second, job);
      held.insert(live->device);
    }
    ORDO_RETURN_IF_ERROR(CheckWorkerDeadlines(state, worker));
    if (worker.liveness != Worker::Liveness::kOnline || worker.draining) {
      continue;
    }
    for (const auto& [device, kind] : worker.devices) {
      if (held.count(device) > 0) continue;
      free[kind][{id, device}] = LackingKernels(worker, device);
    }
  }
  for (const auto& [kind, devices] : state.free) {
    if (devices.empty()) continue;
    ORDO_HOLDS(free.count(kind) > 0 && free.at(kind) == devices, kind);
    free.erase(kind);
  }
  ORDO_HOLDS(free.empty(), "free devices");
  return absl::OkStatus();
}

absl::Status CheckDeadlines(const State& state) {
  for (const Deadline& deadline : state.deadlines) {
    if (deadline.kind == Deadline::Kind::kPlace) continue;
    if (deadline.kind == Deadline::Kind::kBackoff) {
      const auto job = state.jobs.find(deadline.id);
      ORDO_HOLDS(job != state.jobs.end(), deadline.id);
      const auto* queued = std::get_if<Queued>(&job->second.place);
      ORDO_HOLDS(queued != nullptr && queued->not_before == deadline.at,
                 deadline.id);
      continue;
    }
    const auto worker = state.workers.find(deadline.id);
    ORDO_HOLDS(worker != state.workers.end(), deadline.id);
    const auto& slot = deadline.kind == Deadline::Kind::kLease
                           ? worker->second.lease_at
                       : deadline.kind == Deadline::Kind::kHeartbeat
                           ? worker->second.heartbeat_at
                           : worker->second.forget_at;
    ORDO_HOLDS(slot == deadline.at, deadline.id);
  }
  return absl::OkStatus();
}

// A job that may start and a device that it could have never stay side by side,
// unless the policy reached its limit.
absl::Status CheckPlaced(const State& state) {
  for (const Deadline& deadline : state.deadlines) {
    if (deadline.kind == Deadline::Kind::kPlace) return absl::OkStatus();
  }
  ORDO_HOLDS(state.options.place({state.waiting, state.free}).empty(),
             "placement");
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInvariants(const State& state) {
  ORDO_RETURN_IF_ERROR(CheckJobs(state));
  ORDO_RETURN_IF_ERROR(CheckPins(state));
  ORDO_RETURN_IF_ERROR(CheckWorkers(state));
  ORDO_RETURN_IF_ERROR(CheckDeadlines(state));
  return CheckPlaced(state);
}

}  // namespace ordo::scheduler::core
