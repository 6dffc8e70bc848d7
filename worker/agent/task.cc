#include "worker/agent/task.h"

#include <cerrno>
#include <cstring>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/trace/trace.h"
#include "base/units/proto_time.h"
#include "base/version/worker_protocol.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "worker/agent/devices.h"
#include "worker/agent/orphans.h"
#include "worker/supervisor/journal.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::agent::v1::StoredTask;

// Not made durable: a machine that goes down takes the attempt with it.
absl::Status WritePlain(base::Filesystem& files, const std::string& path,
                        const std::string& contents, base::WriteMode mode) {
  ORDO_ASSIGN_OR_RETURN(auto file, files.OpenForWrite(path, mode));
  ORDO_RETURN_IF_ERROR(file->Append(contents));
  return file->Close();
}

// What of the trainer does it.
std::string CommandOf(const DesiredAttempt& desired) {
  switch (desired.task_case()) {
    case DesiredAttempt::kTrain:
      return "train";
    case DesiredAttempt::kBenchmark:
      return "benchmark";
    case DesiredAttempt::kSummarize:
      return "summarize";
    case DesiredAttempt::kGate:
      return "gate";
    default:
      return "evaluate";
  }
}

// Benchmarks and summaries do not, and take no such flag.
bool ReadsData(const DesiredAttempt& desired) {
  return !desired.has_benchmark() && !desired.has_summarize();
}

}  // namespace

TaskFolders::TaskFolders(const TaskOptions& options, const AttemptKey& key)
    : task(absl::StrCat(options.state_folder, "/tasks/", key.ToString())),
      job(absl::StrCat(options.storage_root, "/jobs/", key.job)),
      attempt(absl::StrCat(job, "/attempts/", key.attempt)) {
  const std::string rank = key.rank == 0 ? "" : absl::StrCat("-", key.rank);
  progress = absl::StrCat(attempt, "/progress", rank, ".records");
  task_file = absl::StrCat(attempt, "/task", rank, ".json");
  task_message = absl::StrCat(attempt, "/task.pb");
  supervisor_log = absl::StrCat(attempt, "/supervisor", rank, ".log");
}

std::vector<std::string> EnvironmentWith(
    const std::vector<std::string>& old,
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> environment;
  for (const std::string& text : old) {
    bool replaced = false;
    for (const auto& [name, value] : added) {
      replaced = replaced || text.rfind(name + "=", 0) == 0;
    }
    if (!replaced) environment.push_back(text);
  }
  for (const auto& [name, value] : added) {
    environment.push_back(absl::StrCat(name, "=", value));
  }
  return environment;
}

Task::Task(const TaskOptions& options, base::Filesystem& files,
           SpareFolders& spares, AttemptKey key)
    : options_(options),
      files_(files),
      spares_(spares),
      key_(std::move(key)),
      folders_(options, key_),
      progress_(std::in_place, files, folders_.progress) {}

Task::~Task() { ReleaseSupervisor(); }

absl::Status Task::WriteAttempt(const DesiredAttempt& desired,
                                ObservedAttempt::Cause* cause) {
  *cause = ObservedAttempt::START_FAILED;
  ORDO_RETURN_IF_ERROR(files_.MakeFolders(folders_.attempt));
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        options_.texts->OfAttempt(desired, options_.host));
  // Each attempt is started once. What lies here of another one that the
  // scheduler's store knows no more must not be taken for its own.
  auto file =
      files_.OpenForWrite(folders_.task_file, base::WriteMode::kCreateNew);
  if (absl::IsAlreadyExists(file.status())) {
    *cause = ObservedAttempt::FOLDER_TAKEN;
    return absl::AlreadyExistsError(absl::StrCat(
        "the folder ", folders_.attempt,
        " holds an attempt that the scheduler's store does not know: the store "
        "was restored from an older copy, or another job of this name ran with "
        "this storage root; what it left, whole checkpoints included, stays "
        "there, and the job goes on under the next free number"));
  }
  ORDO_RETURN_IF_ERROR(file);
  ORDO_RETURN_IF_ERROR((*file)->Append(text));
  ORDO_RETURN_IF_ERROR((*file)->Close());
  if (desired.has_summarize()) {
    auto summary = desired.summarize();
    summary.set_job(desired.job());
    summary.set_attempt(desired.attempt());
    ORDO_RETURN_IF_ERROR(WritePlain(files_, folders_.task_message,
                                    summary.SerializeAsString(),
                                    base::WriteMode::kCreateNew));
  }
  // There from the start, so that it can be watched. Another rank's trainer,
  // which may write to the folder, has put no link in its place.
  ORDO_RETURN_IF_ERROR(
      WritePlain(files_, folders_.progress, "", base::WriteMode::kCreateNew));
  return HandOver();
}

absl::Status Task::HandOver() {
  const Sandbox& sandbox = options_.sandbox;
  if (!sandbox.user) return absl::OkStatus();
  // The job's own folder stays the worker's: whoever could rename these could
  // have this process write elsewhere.
  std::vector<std::string> paths = {folders_.job + "/checkpoints",
                                    folders_.job + "/results"};
  for (const std::string& path : paths) {
    ORDO_RETURN_IF_ERROR(files_.MakeFolders(path));
  }
  paths.insert(paths.end(), {folders_.progress, folders_.attempt});
  return GiveToTrainer(sandbox, paths);
}

absl::Status Task::WriteState(const DesiredAttempt& desired) {
  ORDO_RETURN_IF_ERROR(spares_.Make(folders_.task));
  StoredTask stored;
  stored.set_boot_id(base::BootId());
  *stored.mutable_desired() = desired;
  // Not there, or empty; to truncate it even so would send it to the disk when
  // it is closed (ext4).
  return WritePlain(files_, folders_.task + "/task.pb",
                    stored.SerializeAsString(), base::WriteMode::kAppend);
}

StoredTask Task::ReadState() const {
  StoredTask stored;
  const auto bytes = base::ReadFile(files_, folders_.task + "/task.pb",
                                    base::kMaxDesiredSetBytes);
  if (!bytes.ok() || !stored.ParseFromString(*bytes)) stored.Clear();
  return stored;
}

absl::Status Task::Start(const DesiredAttempt& desired,
                         ObservedAttempt::Cause* cause,
                         const std::vector<std::string>& wrong_kernels) {
  ORDO_RETURN_IF_ERROR(base::AddContext(
      WriteAttempt(desired, cause), "prepare the attempt in the storage root"));
  // The task folder comes second: a next worker that finds it may trust what
  // lies in the attempt's.
  *cause = ObservedAttempt::HOST_FAILED;
  ORDO_RETURN_IF_ERROR(
      base::AddContext(WriteState(desired),
                       "prepare the attempt in the worker's `state_folder`"));
  const std::string& task_file =
      desired.has_summarize() ? folders_.task_message : folders_.task_file;
  SupervisorCommand command;
  command.deployment = options_.deployment;
  command.argv = {options_.supervisor,
                  "--task-dir",
                  folders_.task,
                  "--attempt-dir",
                  folders_.attempt,
                  "--step-timeout-ms",
                  absl::StrCat(absl::ToInt64Milliseconds(
                      base::ToDuration(desired.step_timeout()))),
                  "--grace-ms",
                  absl::StrCat(absl::ToInt64Milliseconds(
                      base::ToDuration(desired.grace()))),
                  "--deployment",
                  options_.deployment,
                  "--rank",
                  absl::StrCat(key_.rank)};
  const std::string name = key_.ToString();
  const std::vector<std::string> confinement = SandboxArguments(
      options_.sandbox,
      {folders_.job, name, MemoryOf(desired), HoldsGpu(desired)});
  command.argv.insert(command.argv.end(), confinement.begin(),
                      confinement.end());
  command.argv.insert(
      command.argv.end(),
      {"--", options_.trainer, CommandOf(desired), task_file, "--out",
       folders_.job, "--storage-root", options_.storage_root, "--deployment",
       options_.deployment});
  if (!options_.data_roots.empty() && ReadsData(desired)) {
    command.argv.emplace_back("--data-roots");
    command.argv.push_back(absl::StrJoin(options_.data_roots, ":"));
  }
  if (!wrong_kernels.empty()) {
    command.argv.emplace_back("--without-kernels");
    command.argv.push_back(absl::StrJoin(wrong_kernels, ","));
  }
  auto added = DeviceEnvironment(
      {desired.devices().begin(), desired.devices().end()}, options_.gpu_uuids);
  // All that is started for the task is found by it.
  added.emplace_back(kTaskMark, folders_.task);
  const std::string trace = base::ParseTraceParent(desired.traceparent());
  if (!trace.empty()) added.emplace_back(base::kTraceParentVariable, trace);
  command.environment = EnvironmentWith(options_.environment, added);
  ORDO_ASSIGN_OR_RETURN(supervisor_,
                        base::AddContext(options_.launcher->Start(command),
                                         "start the supervisor"));
  // Its number is its own until it is reaped, whether it still runs or not.
  OpenSupervisor();
  return absl::OkStatus();
}

DesiredAttempt Task::Stored() const {
  DesiredAttempt stored = ReadState().desired();
  stored.set_job(key_.job);
  stored.set_attempt(key_.attempt);
  stored.set_rank(key_.rank);
  return stored;
}

void Task::Adopt() {
  const auto facts = ReadFacts();
  const std::string boot_id = ReadState().boot_id();
  if (facts.ok() && facts->supervisor_pid != 0 && !boot_id.empty()) {
    supervisor_ = {facts->supervisor_pid, facts->supervisor_start_ticks,
                   boot_id};
  } else {
    // Perhaps it was started a moment ago and has no journal yet, or its files
    // are damaged.
    const std::string start =
        absl::StrCat(options_.supervisor, " --task-dir ", folders_.task, " ");
    for (const base::RunningProcess& process : base::FindProcesses(start)) {
      // Others may only speak of it.
      if (process.command_line.rfind(start, 0) == 0) supervisor_ = process.id;
    }
    if (supervisor_.pid == 0) return;
  }
  OpenSupervisor();
  // The number may have been given to another process before it was opened.
  if (supervisor_file_ >= 0 && !base::IsRunning(supervisor_)) {
    ReleaseSupervisor();
  }
}

absl::Status Task::WriteSpec(const DesiredAttempt& desired) const {
  const std::string path = folders_.job + "/spec.json";
  const auto found = files_.Stat(path);
  if (found.ok() && found->size_bytes > 0) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(const std::string text, options_.texts->OfJob(desired));
  return base::ReplaceFile(files_, path, text);
}

absl::Status Task::SyncJournal(bool anew) const {
  const std::string path = folders_.task + "/journal";
  if (!anew) {
    ORDO_ASSIGN_OR_RETURN(
        auto file, files_.OpenForWrite(path, base::WriteMode::kExisting));
    if (file->Sync().ok()) return file->Close();
  }
  // To the kernel what it could not write is written: a second fdatasync would
  // succeed for nothing.
  ORDO_ASSIGN_OR_RETURN(
      const std::string journal,
      base::ReadFile(files_, path, supervisor::kJournalBytes));
  // It may have dropped the page too, and read back what the disk still has.
  if (!FactsOf(supervisor::ParseJournal(journal.data(), journal.size()))
           .group_empty) {
    return absl::DataLossError(
        absl::StrCat("the end of the task is missing in ", path,
                     ": the disk did not take it"));
  }
  return base::AtomicWrite(files_, path, journal);
}

absl::StatusOr<SupervisorFacts> Task::ReadFacts() const {
  const auto journal = base::ReadFile(files_, folders_.task + "/journal",
                                      supervisor::kJournalBytes);
  // None is there before the supervisor's first step.
  if (absl::IsNotFound(journal.status())) return SupervisorFacts{};
  ORDO_RETURN_IF_ERROR(journal);
  return FactsOf(supervisor::ParseJournal(journal->data(), journal->size()));
}

absl::Status Task::ReadRecords(Update* update) {
  while (true) {
    const uint64_t offset = progress_->offset();
    auto payload = progress_->Next();
    ::ordo::training::v1::ProgressRecord record;
    if (payload.ok() && payload->has_value() &&
        !record.ParseFromString(**payload)) {
      payload = absl::DataLossError(absl::StrCat(
          "no progress record at byte ", offset, " of ", folders_.progress));
    }
    if (!payload.ok()) {
      // Afresh from here the next time: the file may be mended or replaced.
      progress_.emplace(files_, folders_.progress, offset);
      return payload.status();
    }
    if (!payload->has_value()) return absl::OkStatus();
    finished_ = finished_ || record.has_finished();
    update->records.push_back(std::move(record));
  }
}

Task::Update Task::Read(ReadOptions how) {
  Update update;
  auto facts = ReadFacts();
  if (!facts.ok()) {
    update.trouble = facts.status();
    return update;
  }
  update.facts = *std::move(facts);
  update.journal_read = true;
  const bool ended = how.ended || update.facts.group_empty;
  if (!damaged_) update.trouble = ReadRecords(&update);
  // Before the end a writer that goes on after a crash may mend a torn record.
  const bool damaged = ended && (absl::IsDataLoss(update.trouble) ||
                                 (how.give_up && !update.trouble.ok()));
  if (!update.trouble.ok() && !damaged) return update;
  update.complete = true;
  const auto& exit = update.facts.exit;
  const bool unfinished = ended && exit && exit->signal == 0 && !finished_ &&
                          (exit->exit_code == ::ordo::training::v1::FINISHED ||
                           exit->exit_code == ::ordo::training::v1::STOPPED);
  if (damaged_ || (!damaged && !unfinished)) return update;
  damaged_ = true;
  update.damage =
      damaged
          ? std::exchange(update.trouble, absl::OkStatus())
          : absl::DataLossError(absl::StrCat(
                "the trainer's last record is missing in ", folders_.progress));
  return update;
}

void Task::OpenSupervisor() {
  supervisor_file_ =
      static_cast<int>(syscall(SYS_pidfd_open, supervisor_.pid, 0));
}

void Task::ReleaseSupervisor() {
  if (supervisor_file_ >= 0) close(supervisor_file_);
  supervisor_file_ = -1;
}

bool Task::SupervisorRuns() const {
  return supervisor_file_ >= 0 && base::IsRunning(supervisor_);
}

absl::Status Task::Signal(int signal, absl::Duration grace) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_int = static_cast<int>(absl::ToInt64Milliseconds(grace));
  if (supervisor_file_ < 0) return absl::NotFoundError("no supervisor");
  if (syscall(SYS_pidfd_send_signal, supervisor_file_, signal, &info, 0) != 0) {
    return base::SystemError(errno, "signal a supervisor");
  }
  return absl::OkStatus();
}

int Task::EndLeftovers() const {
  int num_left = 0;
  for (const base::ProcessId& process : FindTaskProcesses(folders_.task)) {
    ++num_left;
    // One that is gone meanwhile is what was wanted.
    base::SignalProcess(process, SIGKILL).IgnoreError();
  }
  return num_left;
}

absl::Status Task::Remove() {
  // Its supervisor does that, unless it was killed.
  if (!options_.sandbox.cgroup.empty()) {
    rmdir(CgroupOf(options_.sandbox, key_.ToString()).c_str());
  }
  return spares_.Remove(folders_.task);
}

}  // namespace ordo::worker::agent
