#include "worker/agent/agent.h"

#include <algorithm>
#include <poll.h>
#include <set>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "google/protobuf/util/time_util.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::AnnounceRequest;
using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::agent::v1::SetDesiredRequest;
using ::ordo::agent::v1::SetDesiredResponse;
using ::ordo::training::v1::ProgressRecord;

// Changes are seen at once; this only catches what the kernel cannot tell, such
// as a storage that does not support inotify.
constexpr absl::Duration kFullTurnPeriod = absl::Seconds(1);
// How often processes that must go are looked for.
constexpr absl::Duration kLostPeriod = absl::Milliseconds(20);
constexpr absl::Duration kAnnounceTimeout = absl::Seconds(2);
// A worker that drains waits this long for a scheduler that does not answer.
constexpr absl::Duration kDrainAnswerTimeout = absl::Seconds(5);
// Beyond the grace, for supervisors to end what is left.
constexpr absl::Duration kDrainMargin = absl::Seconds(15);

}  // namespace

Agent::Agent(AgentOptions options, base::Filesystem& files,
             const base::Clock& clock, WorkerMetrics& metrics)
    : options_(std::move(options)),
      files_(files),
      clock_(clock),
      metrics_(metrics),
      wake_file_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      core_(options_.identity.worker(), options_.identity.incarnation(),
            options_.task.trainer),
      schedule_(options_.identity.worker()) {
  ORDO_CHECK(wake_file_ >= 0) << "eventfd";
}

Agent::~Agent() {
  announcer_.reset();
  close(wake_file_);
}

absl::Status Agent::Start() {
  ORDO_ASSIGN_OR_RETURN(watcher_, Watcher::Create());
  // What a dead supervisor leaves behind comes to this process, which reaps it.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string folder = options_.task.state_folder + "/tasks";
  ORDO_RETURN_IF_ERROR(files_.MakeFolders(folder));
  ORDO_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        files_.List(folder));
  for (const std::string& name : names) {
    const auto key = ParseAttemptKey(name);
    if (!key.ok()) {
      base::LogWarning("task folder not understood", {{"folder", name}});
      continue;
    }
    Entry& entry = entries_[*key];
    entry.task = std::make_unique<Task>(options_.task, files_, *key);
    const DesiredAttempt stored = entry.task->Stored();
    entry.measurements = MakeMeasurements(stored, absl::InfinitePast());
    entry.task->Adopt();
    {
      base::MutexLock lock(mutex_);
      core_.Adopt(stored);
    }
    metrics_.attempts_adopted.With({}).Increment();
    base::LogInfo("attempt adopted",
                  {{"job", key->job},
                   {"attempt", key->attempt},
                   {"running", entry.task->SupervisorRuns()}});
    WatchFiles(entry);
    Update(*key, entry);
    CheckSupervisor(*key, entry);
  }
  return absl::OkStatus();
}

absl::StatusOr<SetDesiredResponse> Agent::SetDesired(
    const SetDesiredRequest& request) {
  SetDesiredResponse response;
  {
    base::MutexLock lock(mutex_);
    ORDO_ASSIGN_OR_RETURN(const Actions actions, core_.SetDesired(request));
    AddActions(actions);
    *response.mutable_observed() = core_.Observed();
    reported_sequence_ = core_.sequence();
  }
  Wake();
  return response;
}

void Agent::RequestLeave(Leave leave) {
  leave_.store(leave);
  Wake();
}

void Agent::Wake() {
  const uint64_t one = 1;
  // Fails only when it is readable already.
  if (write(wake_file_, &one, sizeof(one)) < 0) return;
}

void Agent::Run(const std::string& address,
                const std::shared_ptr<grpc::Channel>& channel) {
  address_ = address;
  announcer_ = std::make_unique<Announcer>(channel, [this] { Wake(); });
  while (leave_.load() != Leave::kAtOnce) {
    if (leave_.load() == Leave::kDrain) BeginDrain();
    RunPending();
    UpdateChanged();
    RunPending();
    TakeAnswer();
    Announce();
    ReapChildren();
    if (drain_began_ && DrainIsOver()) break;
    Wait();
  }
  announcer_.reset();
}

void Agent::AddActions(const Actions& actions) {
  for (const Action& action : actions) {
    pending_.push_back({action, clock_.Now()});
  }
}

void Agent::RunPending() {
  while (true) {
    std::vector<Pending> pending;
    {
      base::MutexLock lock(mutex_);
      AddActions(core_.ForgetUnlisted());
      pending.swap(pending_);
      metrics_.attempts_running.With({}).Set(core_.NumRunning());
    }
    if (pending.empty()) return;
    for (const Pending& item : pending) {
      switch (item.action.kind) {
        case Action::Kind::kStart:
          StartTask(item);
          break;
        case Action::Kind::kStop:
        case Action::Kind::kKill:
          SignalTask(item.action);
          break;
        case Action::Kind::kForget:
          ForgetTask(item.action.key);
          break;
      }
    }
  }
}

std::unique_ptr<Measurements> Agent::MakeMeasurements(
    const DesiredAttempt& task, absl::Time asked) {
  return std::make_unique<Measurements>(
      metrics_,
      std::vector<std::string>(task.devices().begin(), task.devices().end()),
      asked);
}

void Agent::StartTask(const Pending& pending) {
  const AttemptKey& key = pending.action.key;
  const DesiredAttempt& desired = pending.action.task;
  Entry& entry = entries_[key];
  entry.task = std::make_unique<Task>(options_.task, files_, key);
  entry.measurements = MakeMeasurements(desired, pending.asked);
  ObservedAttempt::Cause cause = ObservedAttempt::CAUSE_UNSPECIFIED;
  const absl::Status status = entry.task->Start(desired, &cause);
  if (!status.ok()) {
    base::LogError(
        "attempt not started",
        {{"job", key.job}, {"attempt", key.attempt}, {"error", status}});
    entry.over = true;
    {
      base::MutexLock lock(mutex_);
      AddActions(
          core_.OnStartFailed(key, cause, std::string(status.message())));
    }
    ReportEnd(key, entry);
    return;
  }
  metrics_.attempts_started.With({}).Increment();
  supervisors_.insert(entry.task->supervisor_pid());
  base::LogInfo("attempt started",
                {{"job", key.job},
                 {"attempt", key.attempt},
                 {"supervisor", entry.task->supervisor_pid()}});
  WriteSpec(desired);
  WatchFiles(entry);
  // What was written before the watches began.
  Update(key, entry);
}

void Agent::SignalTask(const Action& action) {
  const auto found = entries_.find(action.key);
  if (found == entries_.end() || found->second.over) return;
  const bool stop = action.kind == Action::Kind::kStop;
  const absl::Status status =
      found->second.task->Signal(stop ? SIGTERM : SIGUSR1, action.grace);
  base::LogInfo(stop ? "stop requested" : "kill requested",
                {{"job", action.key.job},
                 {"attempt", action.key.attempt},
                 {"grace", absl::FormatDuration(action.grace)},
                 {"result", status}});
}

void Agent::ForgetTask(const AttemptKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  Unwatch(found->second);
  if (absl::Status status = found->second.task->Remove(); !status.ok()) {
    base::LogWarning(
        "task folder not removed",
        {{"job", key.job}, {"attempt", key.attempt}, {"error", status}});
  }
  entries_.erase(found);
}

void Agent::WatchFiles(Entry& entry) {
  const TaskFolders& folders = entry.task->folders();
  const auto watch = [this](absl::StatusOr<int> result, int* name) {
    if (result.ok()) *name = *result;
  };
  if (entry.journal_folder < 0) {
    watch(watcher_->WatchFolder(folders.task), &entry.journal_folder);
  }
  if (entry.journal_file < 0) {
    watch(watcher_->WatchFile(folders.task + "/journal"), &entry.journal_file);
  }
  if (entry.progress_folder < 0) {
    watch(watcher_->WatchFolder(folders.attempt), &entry.progress_folder);
  }
  if (entry.progress_file < 0) {
    watch(watcher_->WatchFile(folders.progress), &entry.progress_file);
  }
}

void Agent::Unwatch(const Entry& entry) {
  for (const int watch : {entry.journal_folder, entry.journal_file,
                          entry.progress_folder, entry.progress_file}) {
    if (watch >= 0) watcher_->Unwatch(watch);
  }
}

void Agent::UpdateChanged() {
  bool all = false;
  const std::set<int> changed = watcher_->Take(&all);
  if (clock_.Monotonic() >= next_full_turn_) {
    all = true;
    next_full_turn_ = clock_.Monotonic() + kFullTurnPeriod;
  }
  for (auto& [key, entry] : entries_) {
    if (entry.over) continue;
    const bool touched = changed.count(entry.journal_folder) +
                             changed.count(entry.journal_file) +
                             changed.count(entry.progress_folder) +
                             changed.count(entry.progress_file) >
                         0;
    if (touched || all) {
      WatchFiles(entry);
      Update(key, entry);
    }
    if (!entry.over) CheckSupervisor(key, entry);
  }
}

Task::Update Agent::Take(const AttemptKey& key, Entry& entry, bool ended) {
  Task::Update update = entry.task->Read(ended);
  // The first of a row is news.
  if (!update.trouble.ok() && !entry.troubled) {
    base::LogWarning("attempt's files not read", {{"job", key.job},
                                                  {"attempt", key.attempt},
                                                  {"error", update.trouble}});
  }
  entry.troubled = !update.trouble.ok();
  if (!update.damage.ok()) {
    metrics_.damaged_progress.With({}).Increment();
    base::LogError(
        "progress file damaged",
        {{"job", key.job}, {"attempt", key.attempt}, {"error", update.damage}});
  }
  for (const ProgressRecord& record : update.records) {
    entry.measurements->OnRecord(record);
  }
  entry.measurements->OnFacts(update.facts);
  base::MutexLock lock(mutex_);
  for (const ProgressRecord& record : update.records) {
    core_.OnProgress(key, record);
  }
  core_.OnDamage(key, update.damage);
  return update;
}

Task::Update Agent::Update(const AttemptKey& key, Entry& entry) {
  Task::Update update = Take(key, entry, /*ended=*/false);
  // A lost supervisor's journal is judged when nothing of its task is left.
  if (!update.complete || entry.lost) return update;
  {
    base::MutexLock lock(mutex_);
    AddActions(core_.OnFacts(key, update.facts));
  }
  if (update.facts.group_empty) {
    entry.over = true;
    entry.task->ReleaseSupervisor();
    ReportEnd(key, entry);
  }
  return update;
}

void Agent::CheckSupervisor(const AttemptKey& key, Entry& entry) {
  if (entry.over) return;
  if (!entry.lost) {
    if (entry.task->SupervisorRuns()) return;
    // Its last words may have come after the look above.
    const Task::Update update = Update(key, entry);
    if (entry.over) return;
    entry.task->ReleaseSupervisor();
    // It may have ended as it should: only its files can tell.
    if (!update.journal_read || update.facts.group_empty) return;
    entry.lost = true;
    base::LogError("supervisor lost",
                   {{"job", key.job}, {"attempt", key.attempt}});
  }
  if (entry.task->EndLeftovers() > 0) return;
  ReapChildren();
  const Task::Update update = Take(key, entry, /*ended=*/true);
  if (!update.complete) return;
  entry.over = true;
  {
    base::MutexLock lock(mutex_);
    const bool refused =
        failed_supervisors_.erase(entry.task->supervisor_pid());
    if (refused && update.facts.supervisor_pid == 0) {
      AddActions(core_.OnStartFailed(
          key, ObservedAttempt::HOST_FAILED,
          absl::StrCat("its supervisor could not begin; look at the worker's "
                       "`state_folder` ",
                       options_.task.state_folder, " and at ",
                       entry.task->folders().attempt, "/supervisor.log")));
    } else {
      AddActions(core_.OnSupervisorLost(key, update.facts));
    }
  }
  ReportEnd(key, entry);
}

void Agent::ReportEnd(const AttemptKey& key, Entry& entry) {
  ObservedAttempt::Cause cause = ObservedAttempt::CAUSE_UNSPECIFIED;
  std::string message;
  {
    base::MutexLock lock(mutex_);
    if (const ObservedAttempt* observed = core_.Find(key)) {
      cause = observed->cause();
      message = observed->message();
    }
  }
  entry.measurements->OnEnd(cause);
  base::LogInfo("attempt ended", {{"job", key.job},
                                  {"attempt", key.attempt},
                                  {"cause", CauseLabel(cause)},
                                  {"message", message}});
}

void Agent::ReapChildren() {
  while (true) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    if (supervisors_.erase(pid) == 0) {
      metrics_.orphans_reaped.With({}).Increment();
    } else if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      failed_supervisors_.insert(pid);
    }
  }
}

void Agent::WriteSpec(const DesiredAttempt& desired) {
  background_.Run([this, desired] {
    const Task task(options_.task, files_, {desired.job(), desired.attempt()});
    if (absl::Status status = task.WriteSpec(desired); !status.ok()) {
      // The next attempt tries again; nothing that runs reads this file.
      base::LogWarning("spec not written",
                       {{"job", desired.job()}, {"error", status}});
    }
  });
}

AnnounceRequest Agent::Announcement() const {
  AnnounceRequest request = options_.identity;
  request.set_address(address_);
  base::MutexLock lock(mutex_);
  request.set_draining(core_.draining());
  *request.mutable_observed() = core_.Observed();
  return request;
}

void Agent::Announce() {
  if (TimeToAnnouncement() > absl::ZeroDuration()) return;
  const AnnounceRequest request = Announcement();
  if (!announcer_->Send(request, kAnnounceTimeout)) return;
  schedule_.Sent(clock_.Monotonic());
  sent_sequence_ = request.observed().sequence();
  sent_draining_ = request.draining();
}

void Agent::LogFailure(const absl::Status& status) {
  const bool silent =
      absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
  // Of silence the first in a row is news, of refusals each that differs.
  const std::string text = silent ? "silent" : status.ToString();
  if (text == last_failure_) return;
  last_failure_ = text;
  if (silent) {
    base::LogWarning("scheduler does not answer", {{"error", status}});
  } else {
    base::LogError("scheduler refuses this worker", {{"error", status}});
  }
}

void Agent::TakeAnswer() {
  const auto answer = announcer_->Take();
  if (!answer) return;
  if (!answer->ok()) {
    metrics_.announce_failures.With({}).Increment();
    schedule_.Failed(clock_.Monotonic());
    LogFailure(answer->status());
    return;
  }
  last_failure_.clear();
  if (schedule_.num_failures() > 0) base::LogInfo("scheduler answers again");
  const google::protobuf::Duration& period = (*answer)->period();
  schedule_.Answered(absl::Seconds(period.seconds()) +
                     absl::Nanoseconds(period.nanos()));
  drain_announced_ = drain_announced_ || sent_draining_;
  base::MutexLock lock(mutex_);
  reported_sequence_ = std::max(reported_sequence_, sent_sequence_);
}

absl::Duration Agent::TimeToAnnouncement() {
  News news = News::kNone;
  {
    base::MutexLock lock(mutex_);
    if (core_.urgent_sequence() > reported_sequence_ ||
        (core_.draining() && !drain_announced_)) {
      news = News::kUrgent;
    } else if (core_.sequence() > reported_sequence_) {
      news = News::kSteps;
    }
  }
  return schedule_.TimeLeft(clock_.Monotonic(), news);
}

void Agent::BeginDrain() {
  if (drain_began_) return;
  drain_began_ = true;
  drain_deadline_ = clock_.Monotonic() + options_.stop_grace + kDrainMargin;
  base::LogInfo("drain begins");
  base::MutexLock lock(mutex_);
  AddActions(core_.Drain(options_.stop_grace));
}

bool Agent::DrainIsOver() {
  const absl::Duration now = clock_.Monotonic();
  base::MutexLock lock(mutex_);
  // What ended is acknowledged and reaped, and the scheduler knows of the
  // drain.
  if (core_.IsEmpty() && drain_announced_ && supervisors_.empty()) return true;
  if (now >= drain_deadline_) {
    base::LogWarning(
        "drain took too long; what runs is left to its "
        "supervisor");
    return true;
  }
  if (!core_.IsIdle()) return false;
  idle_since_ = std::min(idle_since_, now);
  if (now - idle_since_ < kDrainAnswerTimeout) return false;
  base::LogWarning(
      "scheduler does not acknowledge; the next worker reports "
      "what ended");
  return true;
}

void Agent::Wait() {
  std::vector<pollfd> files = {{wake_file_, POLLIN, 0},
                               {watcher_->file(), POLLIN, 0}};
  absl::Duration timeout = next_full_turn_ - clock_.Monotonic();
  size_t num_running = 0;
  for (const auto& [key, entry] : entries_) {
    if (entry.over) continue;
    ++num_running;
    if (entry.lost) timeout = std::min(timeout, kLostPeriod);
    if (entry.task->supervisor_file() >= 0) {
      files.push_back({entry.task->supervisor_file(), POLLIN, 0});
    }
  }
  // Supervisors that have said their last word are about to leave.
  if (supervisors_.size() > num_running) {
    timeout = std::min(timeout, kLostPeriod);
  }
  timeout = std::min(timeout, TimeToAnnouncement());
  timeout = std::clamp(timeout, absl::ZeroDuration(), kFullTurnPeriod);
  // Rounded up, so that what is due then is due when it wakes.
  const auto timeout_ms =
      absl::ToInt64Milliseconds(absl::Ceil(timeout, absl::Milliseconds(1)));
  if (poll(files.data(), files.size(), static_cast<int>(timeout_ms)) <= 0) {
    return;
  }
  uint64_t count = 0;
  if (read(wake_file_, &count, sizeof(count)) < 0) return;
}

}  // namespace ordo::worker::agent
