#include "scheduler/core/turn.h"

#include "base/check.h"

namespace ordo::scheduler::core {

JobRecord& JobEdit::job() {
  if (job_ == nullptr) job_ = std::make_shared<JobRecord>(*entry_.job);
  return *job_;
}

jobs::v1::Attempt& JobEdit::attempt() {
  std::vector<AttemptPtr>& attempts = job().attempts;
  ORDO_CHECK(!attempts.empty()) << job_->id();
  if (attempt_ == nullptr) {
    attempt_ = std::make_shared<jobs::v1::Attempt>(*attempts.back());
    attempts.back() = attempt_;
  }
  return *attempt_;
}

jobs::v1::Attempt& JobEdit::AddAttempt() {
  attempt_ = std::make_shared<jobs::v1::Attempt>();
  job().attempts.push_back(attempt_);
  return *attempt_;
}

void JobEdit::Commit() {
  if (job_ == nullptr) return;
  ++job_->version;
  entry_.job = std::move(job_);
  job_ = nullptr;
  attempt_ = nullptr;
  turn_.Emit(Record{entry_.job});
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

void StartWaiting(State& state, const JobFacts& job) {
  state.waiting[job.need][job.sequence] = job.id;
}

void StopWaiting(State& state, const JobFacts& job) {
  const auto jobs = state.waiting.find(job.need);
  if (jobs == state.waiting.end()) return;
  jobs->second.erase(job.sequence);
  if (jobs->second.empty()) state.waiting.erase(jobs);
}

}  // namespace ordo::scheduler::core
