#include "scheduler/core/load.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/core/references.h"
#include "scheduler/core/turn.h"

namespace ordo::scheduler::core {
namespace {

absl::Status Damaged(const std::string& what, const std::string& why) {
  return absl::DataLossError(
      absl::StrCat("the store's record of ", what, " ", why));
}

absl::Status PlaceLoaded(State& state, const Moment& now, JobEntry* entry) {
  const JobRecord& job = *entry->job;
  const std::string& id = job.id();
  if (IsTerminal(job.state)) {
    entry->place = Ended{};
    return absl::OkStatus();
  }
  AddPins(state, *job.facts);
  if (job.state == jobs::v1::Job::QUEUED) {
    Queued queued;
    if (job.not_before_ns != 0) {
      // No longer than the longest backoff, however the wall clock was set.
      const absl::Duration wait =
          std::clamp(absl::FromUnixNanos(job.not_before_ns) - now.wall,
                     absl::ZeroDuration(), state.options.retry_backoff_max);
      SetDeadline(state, {Deadline::Kind::kBackoff, id, &queued.not_before},
                  now.monotonic + wait);
    } else {
      StartWaiting(state, *job.facts);
    }
    entry->place = queued;
    return absl::OkStatus();
  }
  if (job.attempts.empty() || job.newest_attempt().devices().empty()) {
    return Damaged(JobName(id), "is live without an attempt on a device");
  }
  const jobs::v1::Attempt& attempt = job.newest_attempt();
  Live live;
  live.worker = attempt.worker();
  live.device = attempt.devices(0);
  live.counted = live.durable = now.monotonic;
  live.use = UseOf(job, false);
  live.step = live.durable_step = attempt.start_step();
  Worker& worker = state.workers[live.worker];
  worker.id = live.worker;
  worker.live.insert(id);
  if (!worker.lease_at.has_value()) {
    SetDeadline(state, {Deadline::Kind::kLease, worker.id, &worker.lease_at},
                now.monotonic + state.options.lease);
  }
  entry->place = std::move(live);
  return absl::OkStatus();
}

absl::Status LoadJob(State& state, const Moment& now, const JobPtr& job) {
  const JobFacts& facts = *job->facts;
  JobEntry& entry = state.jobs[facts.id];
  if (entry.job != nullptr) return Damaged(JobName(facts.id), "is there twice");
  if (facts.id.empty() || facts.sequence < state.next_sequence) {
    return Damaged(JobName(facts.id), "is out of order");
  }
  state.next_sequence = facts.sequence + 1;
  entry.job = job;
  if (!facts.request_id.empty()) state.request_ids[facts.request_id] = facts.id;
  return PlaceLoaded(state, now, &entry);
}

// The entry of the job that a resource of a job belongs to.
JobEntry* OwnerOf(State& state, const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() != 4) return nullptr;
  const auto it = state.jobs.find(parts[1]);
  return it == state.jobs.end() ? nullptr : &it->second;
}

}  // namespace

Records DurablePart(const State& state) {
  Records records;
  records.last_sequence = state.next_sequence - 1;
  for (const auto& [id, entry] : state.jobs) {
    records.jobs.push_back(entry.job);
    for (const auto& [key, checkpoint] : entry.checkpoints) {
      records.checkpoints.push_back(checkpoint);
    }
    for (const auto& [report_id, report] : entry.reports) {
      records.reports.push_back(report);
    }
  }
  std::sort(records.jobs.begin(), records.jobs.end(),
            [](const JobPtr& a, const JobPtr& b) {
              return a->facts->sequence < b->facts->sequence;
            });
  const auto by_name = [](const auto& a, const auto& b) {
    return a->name() < b->name();
  };
  std::sort(records.checkpoints.begin(), records.checkpoints.end(), by_name);
  std::sort(records.reports.begin(), records.reports.end(), by_name);
  return records;
}

absl::StatusOr<State> Load(const Options& options, const Records& records,
                           const Moment& now) {
  State state;
  state.options = options;
  for (const JobPtr& job : records.jobs) {
    if (absl::Status status = LoadJob(state, now, job); !status.ok()) {
      return status;
    }
  }
  state.next_sequence =
      std::max(state.next_sequence, records.last_sequence + 1);
  for (const CheckpointPtr& checkpoint : records.checkpoints) {
    JobEntry* owner = OwnerOf(state, checkpoint->name());
    if (owner == nullptr) return Damaged(checkpoint->name(), "has no job");
    owner->checkpoints[{checkpoint->attempt(), checkpoint->step()}] =
        checkpoint;
  }
  for (const ReportPtr& report : records.reports) {
    JobEntry* owner = OwnerOf(state, report->name());
    if (owner == nullptr) return Damaged(report->name(), "has no job");
    owner->reports[IdOf(report->name())] = report;
  }
  return state;
}

}  // namespace ordo::scheduler::core
