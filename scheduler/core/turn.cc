#include "scheduler/core/turn.h"

#include "base/check.h"

namespace ordo::scheduler::core {

jobs::v1::Job& JobEdit::job() {
  if (job_ == nullptr) job_ = std::make_shared<jobs::v1::Job>(*entry_.job);
  return *job_;
}

jobs::v1::Attempt& JobEdit::attempt() {
  jobs::v1::Job& changed = job();
  ORDO_CHECK(changed.attempts_size() > 0) << changed.name();
  return *changed.mutable_attempts(changed.attempts_size() - 1);
}

void JobEdit::Commit() {
  if (job_ == nullptr) return;
  job_->set_version(job_->version() + 1);
  entry_.job = std::move(job_);
  job_ = nullptr;
  turn_.Emit(Record{RecordOf(entry_)});
}

JobRecord RecordOf(const JobEntry& entry) {
  JobRecord record;
  record.job = entry.job;
  record.request_id = entry.request_id;
  record.fingerprint = entry.fingerprint;
  if (const Live* live = std::get_if<Live>(&entry.place)) {
    record.incarnation = live->incarnation;
    record.acknowledged_records = live->acknowledged_records;
  }
  return record;
}

void SetDeadline(State& state, const OwnedDeadline& deadline,
                 std::optional<absl::Duration> at) {
  const auto& [kind, id, note] = deadline;
  if (note->has_value()) state.deadlines.erase({**note, kind, id});
  *note = at;
  if (at.has_value()) state.deadlines.insert({*at, kind, id});
}

void IndexFreeDevices(State& state, const Worker& worker) {
  std::set<std::string> held = worker.lingering;
  for (const std::string& job : worker.live) {
    held.insert(std::get<Live>(state.jobs.at(job).place).device);
  }
  const bool takes_work =
      worker.liveness == Worker::Liveness::kOnline && !worker.draining;
  // Kinds may change with an incarnation: look under each.
  for (auto& [kind, devices] : state.free) {
    auto it = devices.lower_bound({worker.id, ""});
    while (it != devices.end() && it->first.worker == worker.id) {
      it = devices.erase(it);
    }
  }
  if (!takes_work) return;
  for (const auto& [name, kind] : worker.devices) {
    if (held.count(name) > 0) continue;
    state.free[kind][{worker.id, name}] = LackingKernels(worker, name);
  }
}

void StartWaiting(State& state, const jobs::v1::Job& job) {
  state.waiting[NeedOf(job)][job.sequence()] = job.spec().name();
}

void StopWaiting(State& state, const jobs::v1::Job& job) {
  const auto jobs = state.waiting.find(NeedOf(job));
  if (jobs == state.waiting.end()) return;
  jobs->second.erase(job.sequence());
  if (jobs->second.empty()) state.waiting.erase(jobs);
}

}  // namespace ordo::scheduler::core
