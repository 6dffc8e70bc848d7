#include "worker/agent/agent.h"

#include <algorithm>
#include <functional>
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
#include "base/trace/trace.h"
#include "base/units/proto_time.h"

namespace ordo::worker::agent {
namespace {

using base::LogField;
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
constexpr size_t kMaxSpareFolders = 64;

std::string TraceIdOf(const DesiredAttempt& desired) {
  return base::TraceIdOf(base::ParseTraceParent(desired.traceparent()));
}

}  // namespace

Agent::Agent(AgentOptions options, base::Filesystem& files,
             const base::Clock& clock, WorkerMetrics& metrics)
    : options_(std::move(options)),
      files_(files),
      clock_(clock),
      metrics_(metrics),
      spares_(files_, options_.task.state_folder + "/spare", kMaxSpareFolders),
      room_({{"storage", options_.task.storage_root},
             {"state", options_.task.state_folder}},
            files_, clock_, metrics_.free_bytes),
      wake_file_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      core_(options_.identity.worker(), options_.identity.incarnation(),
            options_.task.trainer),
      reporter_(options_.identity, clock, metrics),
      offers_(options_.task,
              {{options_.identity.devices().begin(),
                options_.identity.devices().end()},
               options_.nvml,
               [this] { Wake(); }},
              {files, clock, metrics, [this](std::function<void()> work) {
                 background_->Run([this, work = std::move(work)] {
                   work();
                   Wake();
                 });
               }}) {
  ORDO_CHECK(wake_file_ >= 0) << "eventfd";
}

Agent::~Agent() {
  background_.reset();
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
    entry.adopted = true;
    entry.task = std::make_unique<Task>(options_.task, files_, spares_, *key);
    const DesiredAttempt stored = entry.task->Stored();
    entry.measurements = MakeMeasurements(stored, std::nullopt);
    entry.trace_id = TraceIdOf(stored);
    entry.task->Adopt();
    {
      base::MutexLock lock(mutex_);
      core_.Adopt(stored);
    }
    metrics_.attempts_adopted.With({}).Increment();
    base::LogInfo("attempt adopted",
                  {{"job", key->job},
                   {"attempt", key->attempt},
                   {"rank", key->rank},
                   {"running", entry.task->SupervisorRuns()},
                   LogField::IfAny("trace_id", entry.trace_id)});
    entry.watches =
        std::make_unique<TaskWatches>(*watcher_, entry.task->folders());
    Update(*key, entry);
    entry.measurements->BeginToCount();
    CheckSupervisor(*key, entry);
  }
  std::set<std::string> known;
  for (const auto& [key, entry] : entries_) {
    known.insert(entry.task->folders().task);
  }
  offers_.EndOrphans(known);
  return absl::OkStatus();
}

absl::StatusOr<SetDesiredResponse> Agent::SetDesired(
    const SetDesiredRequest& request) {
  SetDesiredResponse response;
  {
    base::MutexLock lock(mutex_);
    ORDO_ASSIGN_OR_RETURN(Actions actions, core_.SetDesired(request));
    AddActions(std::move(actions));
    *response.mutable_observed() = core_.Observed();
    reporter_.Reported(core_.sequence());
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
  {
    base::MutexLock lock(mutex_);
    reporter_.Begin(address, channel, [this] { Wake(); });
  }
  while (leave_.load() != Leave::kAtOnce) {
    const absl::Duration start = clock_.Monotonic();
    if (leave_.load() == Leave::kDrain || IsTimeOver()) BeginDrain();
    RunPending();
    UpdateChanged();
    RunPending();
    ReapChildren();
    TendDevices();
    Report();
    if (DrainIsOver()) break;
    metrics_.loop_turn.With({}).Observe(
        absl::ToDoubleSeconds(clock_.Monotonic() - start));
    Wait();
  }
  base::MutexLock lock(mutex_);
  reporter_.End();
}

void Agent::AddActions(Actions actions) {
  for (Action& action : actions) {
    pending_.push_back({std::move(action), {clock_.Now(), clock_.Monotonic()}});
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
    const DesiredAttempt& task, std::optional<AskedAt> asked) {
  return std::make_unique<Measurements>(
      metrics_,
      std::vector<std::string>(task.devices().begin(), task.devices().end()),
      asked);
}

void Agent::StartTask(const Pending& pending) {
  const AttemptKey& key = pending.action.key;
  const DesiredAttempt& desired = pending.action.task;
  Entry& entry = entries_[key];
  entry.task = std::make_unique<Task>(options_.task, files_, spares_, key);
  entry.measurements = MakeMeasurements(desired, pending.asked);
  entry.trace_id = TraceIdOf(desired);
  const std::vector<std::string> devices(desired.devices().begin(),
                                         desired.devices().end());
  // The scheduler may have placed it before it knew that a device is withheld.
  absl::Status status = offers_.CheckOffered(devices);
  ObservedAttempt::Cause cause = ObservedAttempt::HOST_FAILED;
  if (status.ok()) {
    status = entry.task->Start(desired, &cause, offers_.WrongKernels(devices));
  }
  if (!status.ok()) {
    base::LogError("attempt not started",
                   {{"job", key.job},
                    {"attempt", key.attempt},
                    {"rank", key.rank},
                    {"error", status},
                    LogField::IfAny("trace_id", entry.trace_id)});
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
  entry.supervisor_ended = entry.task->supervisor_file() < 0;
  supervisors_.insert(entry.task->supervisor_pid());
  base::LogInfo("attempt started",
                {{"job", key.job},
                 {"attempt", key.attempt},
                 {"rank", key.rank},
                 {"supervisor", entry.task->supervisor_pid()},
                 LogField::IfAny("trace_id", entry.trace_id)});
  if (key.rank == 0) WriteSpec(desired);
  entry.watches =
      std::make_unique<TaskWatches>(*watcher_, entry.task->folders());
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
                 {"rank", action.key.rank},
                 {"grace", absl::FormatDuration(action.grace)},
                 {"result", status}});
}

void Agent::ForgetTask(const AttemptKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.watches.reset();
  if (absl::Status status = found->second.task->Remove(); !status.ok()) {
    base::LogWarning("task folder not removed", {{"job", key.job},
                                                 {"attempt", key.attempt},
                                                 {"rank", key.rank},
                                                 {"error", status}});
  }
  entries_.erase(found);
}

void Agent::UpdateChanged() {
  bool all = false;
  const std::set<int> changed = watcher_->Take(&all);
  if (clock_.Monotonic() >= next_full_turn_) {
    all = true;
    next_full_turn_ = clock_.Monotonic() + kFullTurnPeriod;
  }
  if (all) {
    TakeFailedSyncs();
    room_.Step();
  }
  for (auto& [key, entry] : entries_) {
    // Most are acknowledged, and forgotten, before that.
    if (all && std::exchange(entry.end_unsynced, false)) SyncEnd(key, entry);
    if (entry.over) continue;
    if (all) entry.measurements->Look();
    if (all || entry.memory_since || entry.watches->IsIn(changed)) {
      entry.watches->Extend();
      Update(key, entry);
    }
    if (all || entry.supervisor_ended || entry.lost) {
      CheckSupervisor(key, entry);
    }
  }
}

Task::Update Agent::Take(const AttemptKey& key, Entry& entry, bool ended) {
  const absl::Duration now = clock_.Monotonic();
  const bool give_up = now - entry.unread_since >= options_.unreadable_limit;
  Task::Update update = entry.task->Read({ended, give_up});
  if ((ended || update.facts.group_empty) && !update.complete) {
    entry.unread_since = std::min(entry.unread_since, now);
  }
  // The first of a row is news.
  if (!update.trouble.ok() && !entry.troubled) {
    base::LogWarning("attempt's files not read", {{"job", key.job},
                                                  {"attempt", key.attempt},
                                                  {"rank", key.rank},
                                                  {"error", update.trouble}});
  }
  entry.troubled = !update.trouble.ok();
  if (!update.damage.ok()) {
    metrics_.damaged_progress.With({}).Increment();
    base::LogError("progress file damaged", {{"job", key.job},
                                             {"attempt", key.attempt},
                                             {"rank", key.rank},
                                             {"error", update.damage}});
  }
  for (const ProgressRecord& record : update.records) {
    entry.measurements->OnRecord(record);
  }
  entry.measurements->OnFacts(update.facts, now);
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
  if (update.facts.group_empty && !MemoryIsBack(key, entry)) return update;
  {
    base::MutexLock lock(mutex_);
    AddActions(core_.OnFacts(key, update.facts));
  }
  if (update.facts.group_empty) {
    entry.over = true;
    entry.end_unsynced = true;
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
    base::LogError(
        "supervisor lost",
        {{"job", key.job}, {"attempt", key.attempt}, {"rank", key.rank}});
  }
  if (entry.task->EndLeftovers() > 0 || !MemoryIsBack(key, entry)) return;
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
                       entry.task->folders().supervisor_log)));
    } else {
      AddActions(core_.OnSupervisorLost(key, update.facts));
    }
  }
  ReportEnd(key, entry);
}

bool Agent::MemoryIsBack(const AttemptKey& key, Entry& entry) {
  if (!entry.memory_since) entry.memory_since = clock_.Monotonic();
  std::vector<std::string> devices;
  {
    base::MutexLock lock(mutex_);
    if (const ObservedAttempt* observed = core_.Find(key)) {
      devices = {observed->devices().begin(), observed->devices().end()};
    }
  }
  if (!offers_.MemoryIsBack(devices, *entry.memory_since)) return false;
  entry.memory_since.reset();
  return true;
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
                                  {"rank", key.rank},
                                  {"cause", CauseLabel(cause)},
                                  {"message", message},
                                  LogField::IfAny("trace_id", entry.trace_id)});
}

void Agent::ReapChildren() {
  while (true) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    base::ExitStatus exit;
    exit.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (offers_.OnExit(pid, exit) || options_.task.launcher->OnExit(pid)) {
      continue;
    }
    if (supervisors_.erase(pid) == 0) {
      metrics_.orphans_reaped.With({}).Increment();
    } else if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      failed_supervisors_.insert(pid);
    }
  }
}

void Agent::SyncEnd(const AttemptKey& key, const Entry& entry) {
  background_->Run([this, key, is_again = entry.sync_failed,
                    anew = entry.sync_failed || entry.adopted] {
    const Task task(options_.task, files_, spares_, key);
    const absl::Status status = task.SyncJournal(anew);
    // It may have been acknowledged meanwhile.
    if (status.ok() || absl::IsNotFound(status)) return;
    // The first of a row is news.
    if (!is_again) {
      base::LogWarning("end not made durable; tried again",
                       {{"job", key.job},
                        {"attempt", key.attempt},
                        {"rank", key.rank},
                        {"error", status}});
    }
    base::MutexLock lock(mutex_);
    failed_syncs_.push_back(key);
  });
}

void Agent::TakeFailedSyncs() {
  std::vector<AttemptKey> failed;
  {
    base::MutexLock lock(mutex_);
    failed.swap(failed_syncs_);
  }
  for (const AttemptKey& key : failed) {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) continue;
    entry->second.end_unsynced = true;
    entry->second.sync_failed = true;
  }
}

void Agent::WriteSpec(const DesiredAttempt& desired) {
  background_->Run([this, desired] {
    const Task task(options_.task, files_, spares_,
                    {desired.job(), desired.attempt()});
    if (absl::Status status = task.WriteSpec(desired); !status.ok()) {
      // The next attempt tries again; nothing that runs reads this file.
      base::LogWarning("spec not written",
                       {{"job", desired.job()}, {"error", status}});
    }
  });
}

void Agent::TendDevices() {
  Offers::Turn turn;
  turn.draining = drain_.began();
  {
    base::MutexLock lock(mutex_);
    turn.idle = core_.IsEmpty();
    Core::Held held = core_.HeldDevices();
    turn.held = std::move(held.devices);
    if (held.any) {
      for (const auto& device : options_.identity.devices()) {
        turn.held.insert(device.name());
      }
    }
  }
  offers_.Step(turn);
  if (announced_devices_ == offers_.sequence()) return;
  announced_devices_ = offers_.sequence();
  const std::vector<::ordo::workers::v1::Device> devices = offers_.Devices();
  metrics_.withheld_devices.With({}).Set(static_cast<double>(std::count_if(
      devices.begin(), devices.end(),
      [](const auto& device) { return !device.withheld().empty(); })));
  const bool urgent =
      std::exchange(announced_urgent_, offers_.urgent_sequence()) !=
      offers_.urgent_sequence();
  base::MutexLock lock(mutex_);
  if (urgent) {
    reporter_.SetDevices(devices);
  } else {
    reporter_.RefreshDevices(devices);
  }
}

void Agent::Report() {
  base::MutexLock lock(mutex_);
  reporter_.TakeAnswer();
  reporter_.Announce(core_);
}

bool Agent::IsTimeOver() const {
  const auto& identity = options_.identity;
  return identity.has_leave_time() &&
         clock_.Now() >= base::ToTime(identity.leave_time());
}

void Agent::BeginDrain() {
  if (drain_.began()) return;
  drain_.Begin(clock_.Monotonic(), options_.stop_grace);
  base::MutexLock lock(mutex_);
  AddActions(core_.Drain(options_.stop_grace));
}

bool Agent::DrainIsOver() {
  base::MutexLock lock(mutex_);
  return drain_.IsOver(
      clock_.Monotonic(),
      {core_.IsIdle(),
       core_.IsEmpty() && reporter_.drain_announced() && supervisors_.empty()});
}

void Agent::Wait() {
  std::vector<pollfd> files = {{wake_file_, POLLIN, 0},
                               {watcher_->file(), POLLIN, 0}};
  if (offers_.file() >= 0) files.push_back({offers_.file(), POLLIN, 0});
  absl::Duration timeout = std::min(next_full_turn_ - clock_.Monotonic(),
                                    offers_.TimeLeft(drain_.began()));
  const size_t first_supervisor = files.size();
  std::vector<Entry*> supervised;
  size_t num_running = 0;
  bool some_lost = false;
  for (auto& [key, entry] : entries_) {
    if (entry.over) continue;
    ++num_running;
    some_lost = some_lost || entry.lost;
    entry.supervisor_ended = entry.task->supervisor_file() < 0;
    if (entry.supervisor_ended) continue;
    files.push_back({entry.task->supervisor_file(), POLLIN, 0});
    supervised.push_back(&entry);
  }
  // Supervisors that have said their last word are about to leave.
  if (some_lost || supervisors_.size() > num_running) {
    timeout = std::min(timeout, kLostPeriod);
  }
  {
    base::MutexLock lock(mutex_);
    timeout = std::min(timeout, reporter_.TimeLeft(core_));
  }
  timeout = std::clamp(timeout, absl::ZeroDuration(), kFullTurnPeriod);
  // Rounded up, so that what is due then is due when it wakes.
  const auto timeout_ms =
      absl::ToInt64Milliseconds(absl::Ceil(timeout, absl::Milliseconds(1)));
  if (poll(files.data(), files.size(), static_cast<int>(timeout_ms)) <= 0) {
    return;
  }
  for (size_t i = 0; i < supervised.size(); ++i) {
    supervised[i]->supervisor_ended = files[first_supervisor + i].revents != 0;
  }
  uint64_t count = 0;
  if (read(wake_file_, &count, sizeof(count)) < 0) return;
}

}  // namespace ordo::worker::agent
