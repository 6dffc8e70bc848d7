#include "scheduler/server/server.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/log/log_together.h"
#include "base/status/status.h"
#include "base/trace/trace.h"
#include "scheduler/core/load.h"
#include "scheduler/core/present.h"
#include "scheduler/server/checkpoint_sweep.h"
#include "scheduler/server/refusals.h"

namespace ordo::scheduler::server {
namespace {

using base::LogError;
using base::LogField;
using base::LogInfo;
using base::LogWarning;

// A lease holds this many announce periods: two may be lost.
constexpr int kAnnouncesPerLease = 3;

void LogArchived(const absl::StatusOr<int64_t>& num_jobs) {
  if (!num_jobs.ok()) {
    LogError(
        "some jobs that have ended could not be archived; they stay, and it is "
        "tried again",
        {{"error", num_jobs.status()}});
  } else if (*num_jobs > 0) {
    LogInfo("jobs were archived", {{"jobs", *num_jobs}});
  }
}

[[noreturn]] void EndProcess(const absl::Status& status) {
  LogError(
      "a change could not be stored; the scheduler ends, and its next "
      "start goes on from the store",
      {{"error", status}});
  std::_Exit(EXIT_FAILURE);
}

void LogTransition(const core::JobRecord& job) {
  LogInfo(
      "job",
      {{"job", job.id()},
       {"state", jobs::v1::Job::State_Name(job.state)},
       {"reason", job.reason.value()},
       {"attempt", job.attempt_number()},
       LogField::IfAny(
           "worker", job.attempts.empty() ? "" : job.newest_attempt().worker()),
       {"message", core::MessageOf(job)},
       LogField::IfAny("request_id", job.facts->request.id()),
       LogField::IfAny("trace_id",
                       base::TraceIdOf(job.facts->request.trace_parent()))});
}

void LogChange(const core::NoteChange& note) {
  LogInfo("changed", {{"name", note.name},
                      {"user", note.change.user()},
                      {"verified", note.change.verified()},
                      {"action", note.change.action()},
                      {"reason", note.change.reason()}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  ORDO_ASSIGN_OR_RETURN(store::Contents contents, options.store->Load());
  options.core.epoch = contents.epoch;
  const core::Moment now{options.clock->Now(), options.clock->Monotonic()};
  ORDO_ASSIGN_OR_RETURN(core::State state,
                        core::Load(options.core, contents.records, now));
  LogInfo("store loaded", {{"jobs", contents.records.jobs.size()},
                           {"checkpoints", contents.records.checkpoints.size()},
                           {"reports", contents.records.reports.size()},
                           {"epoch", contents.epoch}});
  ORDO_ASSIGN_OR_RETURN(const auto ended, options.store->reader().CountEnded());
  std::unique_ptr<Server> server(new Server(
      std::move(options), std::move(state), contents.records, ended));
  server->damage_.Add(contents.damage);
  server->SweepCheckpoints();
  return server;
}

Server::Server(ServerOptions options, core::State state,
               const core::Records& records,
               const std::map<core::JobState, int64_t>& ended)
    : options_(std::move(options)),
      damage_(*options_.metrics),
      view_(records, ended),
      reads_(view_, options_.store->reader(),
             [this](const std::vector<absl::Status>& damage) {
               damage_.Add(damage);
             }),
      remover_(*options_.files, options_.storage_root,
               [this](const absl::Status& status) {
                 options_.metrics->folder_errors.With({}).Increment();
                 LogWarning(
                     "a checkpoint's folder could not be removed; tried "
                     "again at the next start",
                     {{"error", status}});
               }),
      state_(std::move(state)) {
  for (const core::PublishWorker& absent : core::AbsentWorkers(state_)) {
    view_.PutWorker(absent.worker, absent.value);
  }
  DispatcherOptions dispatcher;
  dispatcher.timeout = options_.core.lease / 2;
  dispatcher.tls = options_.worker_tls;
  dispatcher.on_answer = [this](const agent::v1::SetDesiredRequest& request,
                                absl::StatusOr<agent::v1::ObservedSet> set) {
    TakeAnswer(request, std::move(set));
  };
  dispatcher_ = std::make_unique<Dispatcher>(std::move(dispatcher));
  WriterOptions writer;
  writer.store = options_.store;
  writer.clock = options_.clock;
  writer.release = [this](std::vector<core::Effects> turns) {
    Release(std::move(turns));
  };
  writer.on_failure = [this](const absl::Status& status) { OnFailure(status); };
  writer.full_retry = options_.full_retry;
  writer.on_full = [this](const absl::Status& status) {
    StopAcknowledging(status);
  };
  writer.on_room = [this] { GoOnAcknowledging(); };
  writer.on_commit = [this](size_t num_records, absl::Duration took) {
    options_.metrics->commit_records.With({}).Increment(
        static_cast<double>(num_records));
    options_.metrics->commit_latency.With({}).Observe(
        absl::ToDoubleSeconds(took));
  };
  writer_ = std::make_unique<Writer>(std::move(writer));
  ArchivistOptions archivist;
  archivist.retention = options_.retention;
  archivist.reader = &options_.store->reader();
  archivist.clock = options_.clock;
  archivist.files = options_.files;
  archivist.claim = [this](std::vector<core::PastJob> jobs) {
    return Claim(std::move(jobs));
  };
  archivist.retire = [this](const std::vector<core::PastJob>& jobs) {
    return Retire(jobs);
  };
  archivist.let_go = [this] { LetGo(); };
  archivist.on_damage = [this](const std::vector<absl::Status>& damage) {
    damage_.Add(damage);
  };
  archivist.on_look = &LogArchived;
  archivist_ = std::make_unique<Archivist>(std::move(archivist));
  archivist_->Start();
  if (options_.run_timer) timer_ = std::thread([this] { RunTimer(); });
}

Server::~Server() { Drain(); }

void Server::Drain() {
  {
    base::MutexLock lock(mutex_);
    if (draining_) return;
    draining_ = true;
    timer_changed_.NotifyAll();
  }
  if (timer_.joinable()) timer_.join();
  archivist_->Stop();
  writer_->AppendTask([this] {
    for (const std::string& job : watches_.WatchedJobs()) {
      // Watchers of jobs that have ended were told so.
      const auto seen = view_.FindJob(job);
      if (seen.has_value()) watches_.Tell(Shown(*seen), /*last=*/true);
    }
  });
  writer_->Drain();
  bool full = false;
  {
    base::MutexLock lock(mutex_);
    full = full_;
  }
  // For what they wait for there was no room to the end.
  if (full) RefuseCalls();
  dispatcher_->Stop();
}

void Server::StopAcknowledging(const absl::Status& status) {
  LogError(
      "the store's disk is full; nothing is acknowledged until there is "
      "room, and running jobs go on",
      {{"error", status}});
  options_.metrics->full_disks.With({}).Increment();
  {
    base::MutexLock lock(mutex_);
    full_ = true;
  }
  RefuseCalls();
}

void Server::GoOnAcknowledging() {
  LogInfo("the store's disk has room again; nothing was lost", {});
  base::MutexLock lock(mutex_);
  full_ = false;
}

void Server::RefuseCalls() {
  std::map<uint64_t, WaitingCall> calls;
  {
    base::MutexLock lock(mutex_);
    calls.swap(calls_);
    for (const auto& [number, call] : calls) num_waiting_ -= call.num_jobs;
  }
  for (const auto& [number, call] : calls) {
    Refuse(call.done, NoRoom(call.has_request_id));
  }
  admin_calls_.RefuseAll(NoRoom(/*has_request_id=*/false));
}

core::Moment Server::Now() const {
  return {options_.clock->Now(), options_.clock->Monotonic()};
}

absl::Status Server::ApplyLocked(core::Event event) {
  const core::Moment now = Now();
  const auto previous = core::NextDeadline(state_);
  core::Effects effects = core::Apply(state_, std::move(event), now);
  absl::Status answer;
  for (const core::Effect& effect : effects) {
    if (const auto* announce = std::get_if<core::AnswerAnnounce>(&effect)) {
      answer = announce->status;
    }
  }
  in_flight_.Add(effects);
  if (!effects.empty()) writer_->Append(std::move(effects));
  const auto next = core::NextDeadline(state_);
  if (next.has_value() && (!previous.has_value() || *next < *previous)) {
    timer_changed_.NotifyAll();
  }
  return answer;
}

absl::Status Server::Apply(core::Event event) {
  base::MutexLock lock(mutex_);
  if (draining_) return Leaving();
  return ApplyLocked(std::move(event));
}

absl::Status Server::CountWaiting(const WaitingCall& call) {
  base::MutexLock lock(mutex_);
  // A call alone is never too large.
  if (num_waiting_ > 0 &&
      num_waiting_ + call.num_jobs > options_.max_waiting_jobs) {
    return TooManyWait(num_waiting_, call.has_request_id);
  }
  num_waiting_ += call.num_jobs;
  return absl::OkStatus();
}

void Server::Call(const Mentioned& mentioned, const MakeEvent& make,
                  WaitingCall call) {
  absl::Status refused = CountWaiting(call);
  if (!refused.ok()) {
    Refuse(call.done, refused);
    return;
  }
  Departures departures;
  store::PastJobs past;
  {
    base::MutexLock lock(mutex_);
    lookups_.insert(&departures);
  }
  for (Mentioned missing = mentioned; refused.ok();) {
    // Without the lock: the store may take its time.
    refused = FindPast(missing, &past);
    base::MutexLock lock(mutex_);
    if (draining_) {
      refused = Leaving();
    } else if (full_) {
      refused = NoRoom(call.has_request_id);
    }
    while (refused.ok() && IsLeaving(past.jobs)) let_go_.Wait(mutex_);
    missing = departures.Take(mentioned, &past);
    if (refused.ok() && !missing.empty()) continue;
    lookups_.erase(&departures);
    if (!refused.ok()) {
      num_waiting_ -= call.num_jobs;
      break;
    }
    const uint64_t number = next_call_++;
    calls_[number] = std::move(call);
    CallLocked(std::move(past.jobs), make(number, std::move(past.retired)));
    return;
  }
  Refuse(call.done, refused);
}

void Server::CallLocked(std::vector<core::PastJob> past, core::Event event) {
  std::vector<std::string> recalled;
  for (const core::PastJob& each : past) {
    recalled.push_back(each.job->id());
    each.job->facts->spec->LetGo();
  }
  if (!past.empty()) ApplyLocked(core::Recall{std::move(past)}).IgnoreError();
  ApplyLocked(std::move(event)).IgnoreError();  // Answered by the writer.
  ForgetLocked(in_flight_.Without(recalled));
}

void Server::Tick() { Apply(core::Tick{}).IgnoreError(); }

void Server::RunTimer() {
  base::MutexLock lock(mutex_);
  while (!draining_) {
    const auto next = core::NextDeadline(state_);
    if (!next.has_value()) {
      timer_changed_.Wait(mutex_);
      continue;
    }
    const absl::Duration wait = *next - options_.clock->Monotonic();
    if (wait <= absl::ZeroDuration()) {
      options_.metrics->timer_delay.With({}).Observe(
          absl::ToDoubleSeconds(-wait));
      ApplyLocked(core::Tick{}).IgnoreError();
      continue;
    }
    // Clock's monotonic time is the steady clock's. Never early: a wake before
    // the deadline would spin.
    timer_changed_.WaitUntil(
        mutex_, std::chrono::steady_clock::time_point(
                    absl::ToChronoNanoseconds(*next + absl::Microseconds(1))));
  }
}

void Server::SweepCheckpoints() {
  remover_.Sweep([sweep = std::make_shared<CheckpointSweep>(
                      options_.store->reader())] { return sweep->Next(); });
}

void Server::RemoveCheckpoint(const std::string& name,
                              const std::string& file) {
  // The resource name is the path below the storage root.
  remover_.Remove(file.empty() ? name : base::JoinPath(name, file));
}

void Server::ReleaseRecord(const core::Record& record, Changed* changed) {
  if (const auto* row = std::get_if<core::RowPtr>(&record.value)) {
    view_.PutRow(*row);
    // Here, where its waits are counted, so that nobody uses what is removed.
    if ((*row)->kind == core::Row::Kind::kQueue &&
        !view_.GetQueue((*row)->key).ok()) {
      options_.metrics->queue_wait.Remove({(*row)->key});
    }
  }
  const auto* job = std::get_if<core::JobPtr>(&record.value);
  if (job == nullptr) return;
  if (view_.PutJob(*job)) {
    LogTransition(**job);
    const core::JobState state = (*job)->state;
    if (core::IsTerminal(state)) {
      options_.metrics->jobs_ended.With({jobs::v1::Job::State_Name(state)})
          .Increment();
    }
  }
  (*changed)[(*job)->id()] = *job;
}

jobs::v1::Job Server::Shown(const core::JobRecord& job) {
  absl::StatusOr<jobs::v1::Job> shown = core::Present(job);
  if (shown.ok()) return *std::move(shown);
  damage_.Add({shown.status()});
  jobs::v1::Job rest = core::PresentWithoutSpec(job);
  rest.mutable_spec()->set_name(job.id());
  return rest;
}

jobs::v1::Job Server::Shown(const SeenJob& job) {
  jobs::v1::Job shown = Shown(*job.record);
  if (job.progress != nullptr) *shown.mutable_progress() = *job.progress;
  return shown;
}

std::optional<Server::Done> Server::TakeCall(uint64_t number) {
  base::MutexLock lock(mutex_);
  const auto call = calls_.find(number);
  // Refused already, when the disk was full.
  if (call == calls_.end()) return std::nullopt;
  Done done = std::move(call->second.done);
  num_waiting_ -= call->second.num_jobs;
  calls_.erase(call);
  return done;
}

void Server::ReleaseAnswer(const core::Answer& answer) {
  const std::optional<Done> taken = TakeCall(answer.call);
  if (!taken.has_value()) return;
  const auto& done = std::get<JobsCallback>(*taken);
  if (!answer.jobs.ok()) {
    done(answer.jobs.status());
    return;
  }
  std::vector<jobs::v1::Job> jobs;
  jobs.reserve(answer.jobs->size());
  for (const core::JobPtr& job : *answer.jobs) jobs.push_back(Shown(*job));
  done(std::move(jobs));
}

void Server::Release(std::vector<core::Effects> turns) {
  const base::LogTogether together;
  Changed changed;
  for (const core::Effects& effects : turns) {
    // Workers first: nobody may see a job on a device that still looks free.
    for (const core::Effect& effect : effects) {
      if (const auto* worker = std::get_if<core::PublishWorker>(&effect)) {
        view_.PutWorker(worker->worker, worker->value);
        if (worker->value == nullptr) dispatcher_->Forget(worker->worker);
      }
    }
    for (const core::Effect& effect : effects) {
      if (const auto* record = std::get_if<core::Record>(&effect)) {
        ReleaseRecord(*record, &changed);
      } else if (const auto* desired = std::get_if<core::SetDesired>(&effect)) {
        damage_.Add(desired->untold);
        dispatcher_->Send(*desired);
      } else if (const auto* answer = std::get_if<core::Answer>(&effect)) {
        ReleaseAnswer(*answer);
      } else if (const auto* queue = std::get_if<core::AnswerQueue>(&effect)) {
        admin_calls_.Answer(*queue);
      } else if (const auto* worker =
                     std::get_if<core::AnswerWorker>(&effect)) {
        admin_calls_.Answer(*worker);
      } else if (const auto* row = std::get_if<core::AnswerRow>(&effect)) {
        admin_calls_.Answer(*row);
      } else if (const auto* alias = std::get_if<core::AnswerAlias>(&effect)) {
        ReleaseAnswer(*alias);
      } else if (const auto* checkpoint =
                     std::get_if<core::AnswerCheckpoint>(&effect)) {
        ReleaseAnswer(*checkpoint);
      } else if (const auto* note = std::get_if<core::NoteChange>(&effect)) {
        LogChange(*note);
      } else if (const auto* remove =
                     std::get_if<core::RemoveCheckpoint>(&effect)) {
        RemoveCheckpoint(core::CheckpointName(remove->job, remove->checkpoint),
                         remove->file);
      } else if (const auto* progress =
                     std::get_if<core::PublishProgress>(&effect)) {
        view_.PutProgress(progress->job, progress->value);
        changed.emplace(progress->job, nullptr);
      } else if (const auto* count = std::get_if<core::Count>(&effect)) {
        AddCount(*count, *options_.metrics);
      }
    }
  }
  TellWatches(changed);
  LetSpecsGo(turns);
  ForgetEnded(turns);
}

void Server::TellWatches(const Changed& changed) {
  for (const auto& [job, record] : changed) {
    if (!watches_.IsWatched(job)) continue;
    if (record != nullptr && core::IsTerminal(record->state)) {
      watches_.Tell(Shown(*record), /*last=*/true);
    } else if (const auto seen = view_.FindJob(job)) {
      watches_.Tell(Shown(*seen), /*last=*/false);
    }
  }
}

void Server::LetSpecsGo(const std::vector<core::Effects>& turns) {
  for (const core::Effects& effects : turns) {
    for (const core::Effect& effect : effects) {
      const auto* record = std::get_if<core::Record>(&effect);
      if (record == nullptr) continue;
      const auto* job = std::get_if<core::JobPtr>(&record->value);
      if (job != nullptr) (*job)->facts->spec->LetGo();
    }
  }
}

void Server::ForgetEnded(const std::vector<core::Effects>& turns) {
  base::MutexLock lock(mutex_);
  std::vector<std::string> jobs = in_flight_.Remove(turns);
  if (!draining_) ForgetLocked(std::move(jobs));
}

void Server::ForgetLocked(std::vector<std::string> jobs) {
  if (jobs.empty()) return;
  for (const std::string& id : jobs) {
    const auto entry = state_.jobs.find(id);
    if (entry == state_.jobs.end()) continue;
    for (Departures* lookup : lookups_) lookup->Add(*entry->second.job);
  }
  ApplyLocked(core::Forget{std::move(jobs)}).IgnoreError();
}

void Server::OnFailure(const absl::Status& status) {
  if (!options_.on_commit_failure) EndProcess(status);
  options_.on_commit_failure(status);
}

bool Server::IsLeaving(const std::vector<core::PastJob>& jobs) const {
  return std::any_of(jobs.begin(), jobs.end(), [this](const auto& past) {
    return leaving_.count(past.job->id()) > 0;
  });
}

std::vector<core::PastJob> Server::Claim(std::vector<core::PastJob> jobs) {
  base::MutexLock lock(mutex_);
  const auto is_held = [this](const core::PastJob& past) {
    return state_.jobs.count(past.job->id()) > 0;
  };
  jobs.erase(std::remove_if(jobs.begin(), jobs.end(), is_held), jobs.end());
  for (const core::PastJob& past : jobs) leaving_[past.job->id()] = past.job;
  return jobs;
}

absl::Status Server::Retire(const std::vector<core::PastJob>& jobs) {
  std::vector<std::string> ids;
  for (const core::PastJob& past : jobs) ids.push_back(past.job->id());
  // Shared: the thread may still be at it when the result is there.
  const auto result = std::make_shared<std::promise<absl::Status>>();
  writer_->AppendTask([this, result, &ids, &jobs] {
    const std::vector<core::RowPtr> rows = view_.archived_usage().With(jobs);
    const absl::Status status = options_.store->Retire(ids, rows);
    if (status.ok()) {
      view_.TakeRetired(jobs);
      for (const core::RowPtr& row : rows) view_.PutRow(row);
    }
    if (!status.ok() && !absl::IsResourceExhausted(status)) OnFailure(status);
    result->set_value(status);
  });
  return result->get_future().get();
}

void Server::LetGo() {
  base::MutexLock lock(mutex_);
  for (Departures* lookup : lookups_) {
    for (const auto& [id, job] : leaving_) lookup->Add(*job);
  }
  leaving_.clear();
  let_go_.NotifyAll();
}

void Server::TakeAnswer(const agent::v1::SetDesiredRequest& request,
                        absl::StatusOr<agent::v1::ObservedSet> observed) {
  const std::string& worker = request.worker();
  const bool refused = absl::IsFailedPrecondition(observed.status()) ||
                       absl::IsAborted(observed.status());
  options_.metrics->dispatches
      .With({observed.ok() ? "ok"
             : refused     ? "refused"
                           : "failed"})
      .Increment();
  bool log = false;
  {
    base::MutexLock lock(mutex_);
    if (observed.ok()) {
      silent_workers_.erase(worker);
    } else {
      log = silent_workers_.insert(worker).second;
    }
  }
  if (log) {
    LogWarning("a desired set was not taken; sent again at the heartbeat",
               {{"worker", worker}, {"error", observed.status()}});
  }
  if (!observed.ok()) return;
  Apply(core::Observed{worker, request.incarnation(), *std::move(observed)})
      .IgnoreError();  // When draining, the next life asks again.
}

absl::StatusOr<int64_t> Server::WatchJob(const std::string& job,
                                         WatchCallback callback) {
  // Of one that has not ended a watch tells what can be read.
  if (!view_.FindJob(job).has_value()) {
    ORDO_RETURN_IF_ERROR(reads_.GetJob(job));
  }
  base::MutexLock lock(mutex_);
  if (draining_) return Leaving();
  const int64_t watch = watches_.Add(job, std::move(callback));
  // Each task ends what is committed and merged together: one for all.
  if (watches_.AskToShow()) writer_->AppendTask([this] { ShowToWatches(); });
  return watch;
}

void Server::ShowToWatches() {
  for (const auto& [watch, job] : watches_.TakeUnshown()) {
    if (const auto live = view_.FindJob(job)) {
      watches_.TellOne(watch, Shown(*live), /*last=*/false);
      continue;
    }
    const auto ended = reads_.GetJob(job);
    if (ended.ok()) {
      watches_.TellOne(watch, *ended, /*last=*/true);
      continue;
    }
    // It has ended since, and its row is damaged, or that of its spec.
    LogError("a job cannot be shown to its watcher",
             {{"job", job}, {"error", ended.status()}});
    watches_.Stop(watch);
  }
}

void Server::StopWatch(int64_t watch) { watches_.Stop(watch); }

absl::StatusOr<agent::v1::AnnounceResponse> Server::Announce(
    const agent::v1::AnnounceRequest& request) {
  ORDO_RETURN_IF_ERROR(Apply(core::Announced{request}));
  agent::v1::AnnounceResponse response;
  *response.mutable_period() =
      core::ToProtoDuration(options_.core.lease / kAnnouncesPerLease);
  return response;
}

}  // namespace ordo::scheduler::server
