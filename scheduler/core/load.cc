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

absl::Status PlaceLoaded(State& state, const Moment& now,
                         const JobRecord& record, JobEntry* entry) {
  const jobs::v1::Job& job = *record.job;
  const std::string& id = job.spec().name();
  if (IsTerminal(job.state())) {
    entry->place = Ended{};
    return absl::OkStatus();
  }
  AddPins(state, job.spec());
  if (job.state() == jobs::v1::Job::QUEUED) {
    Queued queued;
    if (job.has_not_before_time()) {
      // No longer than the longest backoff, however the wall clock was set.
      const absl::Duration wait =
          std::clamp(ToTime(job.not_before_time()) - now.wall,
                     absl::ZeroDuration(), state.options.retry_backoff_max);
      SetDeadline(state, {Deadline::Kind::kBackoff, id, &queued.not_before},
                  now.monotonic + wait);
    } else {
      StartWaiting(state, job);
    }
    entry->place = queued;
    return absl::OkStatus();
  }
  if (job.attempts().empty() || job.attempts().rbegin()->devices().empty()) {
    return Damaged(job.name(), "is live without an attempt on a device");
  }
  const jobs::v1::Attempt& attempt = *job.attempts().rbegin();
  Live live;
  live.worker = attempt.worker();
  live.incarnation = record.incarnation;
  live.device = attempt.devices(0);
  live.acknowledged_records = record.acknowledged_records;
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

absl::Status LoadJob(State& state, const Moment& now, const JobRecord& record) {
  const std::string& id = record.job->spec().name();
  JobEntry& entry = state.jobs[id];
  if (entry.job != nullptr)
    return Damaged(record.job->name(), "is there twice");
  if (id.empty() || record.job->sequence() < state.next_sequence) {
    return Damaged(record.job->name(), "is out of order");
  }
  state.next_sequence = record.job->sequence() + 1;
  entry.job = record.job;
  entry.request_id = record.request_id;
  entry.fingerprint = record.fingerprint;
  if (!entry.request_id.empty()) state.request_ids[entry.request_id] = id;
  return PlaceLoaded(state, now, record, &entry);
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
  for (const auto& [id, entry] : state.jobs) {
    records.jobs.push_back(RecordOf(entry));
    for (const auto& [key, checkpoint] : entry.checkpoints) {
      records.checkpoints.push_back(checkpoint);
    }
    for (const auto& [report_id, report] : entry.reports) {
      records.reports.push_back(report);
    }
  }
  std::sort(records.jobs.begin(), records.jobs.end(),
            [](const JobRecord& a, const JobRecord& b) {
              return a.job->sequence() < b.job->sequence();
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
  for (const JobRecord& record : records.jobs) {
    if (absl::Status status = LoadJob(state, now, record); !status.ok()) {
      return status;
    }
  }
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
