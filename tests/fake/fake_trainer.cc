// A trainer that trains nothing, fast: the command line and the files of
// ordo-trainer without LibTorch, for tests and benchmarks of everything around
// it. It misbehaves on request (behaviour.h). Example:
//   ORDO_FAKE='*:step_ms=2' fake_trainer train task.json --out jobs/a
//       --storage-root /mnt/ordo --deployment /var/lib/ordo
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock/clock.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/process/stacks.h"
#include "base/records/records.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"
#include "base/version/version.h"
#include "google/protobuf/util/json_util.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"
#include "tests/fake/behaviour.h"
#include "tests/fake/checkpoint.h"

namespace ordo::tests::fake {
namespace {

namespace training = ::ordo::training::v1;

constexpr size_t kMaxSpecBytes = 16 << 20;
// How often a trainer that is held looks whether it may go on.
constexpr int kHoldPeriodMs = 5;

volatile std::sig_atomic_t stop_requested = 0;

void OnTerm(int) { stop_requested = 1; }

// Waits; a signal ends it early.
void Pause(int64_t milliseconds) {
  if (milliseconds > 0 && stop_requested == 0) {
    poll(nullptr, 0, static_cast<int>(milliseconds));
  }
}

// A child that only stays, with and without leaving session and group.
void LeaveChild(bool leave_session) {
  if (fork() != 0) return;
  if (leave_session) setsid();
  signal(SIGTERM, SIG_DFL);
  while (true) pause();
}

// Holds the device of the worker whose task this is, until the process ends.
void ClaimDevice(const std::string& job) {
  // <state folder>/tasks/<task>, from the supervisor.
  const char* const task = std::getenv("ORDO_TASK");
  if (task == nullptr) std::abort();
  const std::string folder = base::FolderOf(base::FolderOf(task));
  const int device = open(base::JoinPath(folder, "device").c_str(),
                          O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (device >= 0 && flock(device, LOCK_EX | LOCK_NB) == 0) return;
  const std::string line = absl::StrCat(
      job, ": ", device < 0 ? "no device file" : "the device is held", "\n");
  const int told = open(base::JoinPath(folder, "double_booked").c_str(),
                        O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (told < 0 || write(told, line.data(), line.size()) < 0) std::abort();
}

std::string NameOf(const training::Evaluation& evaluation) {
  return evaluation.name().empty() ? evaluation.task() : evaluation.name();
}

// One task. Methods return the exit code with which to leave, or 0 to go on.
class FakeTrainer {
 public:
  FakeTrainer(std::string out, std::string storage_root, Behaviour behaviour)
      : out_(std::move(out)),
        storage_root_(std::move(storage_root)),
        behaviour_(behaviour) {}

  int Train(const training::TrainSpec& spec);
  int Evaluate(const training::EvaluateSpec& spec);
  int Summarize(const training::SummarizeSpec& spec);
  int Gate(const training::GateSpec& spec);

 private:
  absl::Status OpenProgress(int attempt, int rank);
  absl::Status Write(training::ProgressRecord record);
  // Writes what the run can do without.
  void Tell(const training::ProgressRecord& record) {
    Write(record).IgnoreError();
  }
  int Leave(training::ExitCode code, const std::string& message);
  void Start(const std::string& job);
  // No test has told it to go on.
  bool MustHold() const {
    return !base::Exists(real_files_, base::JoinPath(out_, "go"));
  }
  // The newest good checkpoint, else step 0.
  void Resume(const training::TrainSpec& spec);
  void Misbehave(const training::TrainSpec& spec);
  absl::Status Save(const training::TrainSpec& spec);
  void WriteStep(const training::TrainSpec& spec);
  int EvaluateAll(const training::TrainSpec& spec, bool at_end);
  absl::Status Report(const training::Evaluation& evaluation, int attempt,
                      const std::string& checkpoint);
  // Writes `result` as result.json of a report of this id and tells of it.
  absl::Status WriteReport(training::ReportWritten report, int attempt,
                           const std::string& result);
  std::string PathOf(const training::CheckpointSource& source) const;

  const std::string out_;
  const std::string storage_root_;
  const Behaviour behaviour_;
  mutable base::PosixFilesystem real_files_;
  // Checkpoints and reports go through it.
  base::testing::FaultyFilesystem files_{real_files_};
  base::RealClock clock_;
  std::unique_ptr<base::RecordWriter> progress_;
  State state_;
  // Of what it trains.
  double learning_rate_ = 0;
  int64_t saved_step_ = -1;
};

absl::Status FakeTrainer::OpenProgress(int attempt, int rank) {
  ORDO_ASSIGN_OR_RETURN(
      progress_,
      base::RecordWriter::Open(
          real_files_,
          absl::StrCat(out_, "/attempts/", attempt, "/progress",
                       rank == 0 ? "" : absl::StrCat("-", rank), ".records")));
  return absl::OkStatus();
}

absl::Status FakeTrainer::Write(training::ProgressRecord record) {
  *record.mutable_time() = base::ToTimestamp(clock_.Now());
  absl::Status status = progress_->Append(record.SerializeAsString());
  if (!status.ok()) {
    std::fprintf(stderr, "fake trainer: %s\n", status.ToString().c_str());
  }
  return status;
}

int FakeTrainer::Leave(training::ExitCode code, const std::string& message) {
  training::ProgressRecord record;
  auto* finished = record.mutable_finished();
  finished->set_code(code);
  finished->set_message(message);
  finished->set_step(state_.step);
  finished->set_step_seconds(static_cast<double>(behaviour_.step_ms) / 1000);
  if (code == training::FINISHED || code == training::STOPPED) {
    finished->set_state_digest(DigestOf(state_));
  }
  absl::Status status = Write(record);
  if (status.ok()) status = progress_->Sync();
  if (!status.ok()) {
    std::fprintf(stderr, "fake trainer: %s\n", status.ToString().c_str());
    return training::STORAGE_ERROR;
  }
  std::printf("fake trainer: %s at step %lld\n",
              training::ExitCode_Name(code).c_str(),
              static_cast<long long>(state_.step));
  std::fflush(stdout);
  return code;
}

void FakeTrainer::Start(const std::string& job) {
  std::printf("fake trainer: job %s\n", job.c_str());
  if (behaviour_.claim != 0) ClaimDevice(job);
  const std::string line(1023, 'x');
  for (int64_t i = 0; i < behaviour_.log_mb * 1024; ++i) {
    std::printf("%s\n", line.c_str());
  }
  std::fflush(stdout);
  for (int64_t i = 0; i < behaviour_.grandchildren; ++i) LeaveChild(i % 2 == 1);
  if (behaviour_.disk_bytes > 0) {
    files_.LimitDisk(static_cast<uint64_t>(behaviour_.disk_bytes));
  }
  Pause(behaviour_.start_ms);
  while (behaviour_.hold_start != 0 && MustHold() && stop_requested == 0) {
    poll(nullptr, 0, kHoldPeriodMs);
  }
}

std::string FakeTrainer::PathOf(
    const training::CheckpointSource& source) const {
  return source.path().rfind('/', 0) == 0
             ? source.path()
             : base::JoinPath(storage_root_, source.path());
}

void FakeTrainer::Resume(const training::TrainSpec& spec) {
  training::ProgressRecord record;
  auto* started = record.mutable_started();
  state_ = InitialState(spec.training().seed());
  std::vector<training::CheckpointSource> sources(spec.resume().begin(),
                                                  spec.resume().end());
  if (sources.empty() && spec.has_start()) sources.push_back(spec.start());
  for (const training::CheckpointSource& source : sources) {
    const auto read =
        ReadCheckpoint(real_files_, PathOf(source), source.manifest_sha256());
    if (read.ok()) {
      state_ = *read;
      started->set_resumed_from(source.name());
      break;
    }
    started->add_warnings(absl::StrCat("passed over ", source.name(), ": ",
                                       read.status().message()));
  }
  if (!sources.empty() && started->resumed_from().empty()) {
    started->add_warnings("no checkpoint is good: started over from step 0");
  }
  started->set_start_step(state_.step);
  started->set_exact(true);
  started->set_state_digest(DigestOf(state_));
  auto* control = started->mutable_control();
  control->set_initial_digest(DigestOf(InitialState(spec.training().seed())));
  control->set_device("cpu");
  control->set_precision("fp32");
  control->set_deterministic(true);
  (*control->mutable_environment())["threads"] =
      absl::StrCat(spec.resources().threads());
  control->set_learning_rate(spec.training().learning_rate());
  if (auto digest = base::BuildId(); digest.ok()) {
    started->set_build_digest(*digest);
  }
  Tell(record);
}

// Before the step that follows state_.
void FakeTrainer::Misbehave(const training::TrainSpec& spec) {
  const int64_t step = state_.step + 1;
  if (behaviour_.heal_at == step) files_.Heal();
  while (behaviour_.hold_at == step && MustHold() && stop_requested == 0 &&
         base::Exists(real_files_, out_)) {
    if (state_.step > 0) WriteStep(spec);
    poll(nullptr, 0, kHoldPeriodMs);
  }
  if (behaviour_.once != 0 && spec.attempt() > 1) return;
  if (behaviour_.crash_at == step) {
    std::fprintf(stderr, "fake trainer: crash at step %lld\n",
                 static_cast<long long>(step));
    std::abort();
  }
  if (behaviour_.exit_at == step) {
    std::fprintf(stderr, "fake trainer: leave at step %lld\n",
                 static_cast<long long>(step));
    std::_Exit(static_cast<int>(behaviour_.exit_code));
  }
  while (behaviour_.hang_at == step && stop_requested == 0) {
    poll(nullptr, 0, 1000);
  }
}

absl::Status FakeTrainer::Save(const training::TrainSpec& spec) {
  // Rank 0 alone writes checkpoints.
  if (saved_step_ == state_.step || spec.rank() > 0) return absl::OkStatus();
  CheckpointOptions options;
  options.folder = base::JoinPath(out_, "checkpoints");
  options.attempt = spec.attempt();
  options.midway = [this] {
    // Held even when a stop is asked for: that is when tests look.
    if (behaviour_.checkpoint_ms > 0) {
      poll(nullptr, 0, static_cast<int>(behaviour_.checkpoint_ms));
    }
    while (behaviour_.hold_checkpoint == state_.step && MustHold()) {
      poll(nullptr, 0, kHoldPeriodMs);
    }
  };
  const absl::Duration start = clock_.Monotonic();
  auto written = WriteCheckpoint(files_, state_, options);
  training::ProgressRecord record;
  if (!written.ok()) {
    auto* failed = record.mutable_checkpoint_failed();
    failed->set_step(state_.step);
    failed->set_message(std::string(written.status().message()));
    Tell(record);
    return written.status();
  }
  const double seconds = absl::ToDoubleSeconds(clock_.Monotonic() - start);
  written->set_data_digest(base::Sha256Hex(
      absl::StrCat("data ", spec.data().seed(), " to ", state_.step)));
  written->set_tokens(state_.step * spec.training().batch_size());
  written->set_stall_seconds(seconds);
  written->set_write_seconds(seconds);
  *record.mutable_checkpoint() = *written;
  ORDO_RETURN_IF_ERROR(Write(record));
  saved_step_ = state_.step;
  return progress_->Sync();
}

void FakeTrainer::WriteStep(const training::TrainSpec& spec) {
  training::ProgressRecord record;
  auto* step = record.mutable_step();
  step->set_step(state_.step);
  step->set_total_steps(spec.training().steps());
  step->set_loss(1.0 / static_cast<double>(state_.step));
  step->set_learning_rate(spec.training().learning_rate());
  step->set_gradient_norm(1);
  step->set_tokens_per_second(1000);
  step->set_tokens(state_.step * spec.training().batch_size());
  step->set_step_seconds(static_cast<double>(behaviour_.step_ms) / 1000);
  Tell(record);
}

int FakeTrainer::Train(const training::TrainSpec& spec) {
  if (absl::Status status = OpenProgress(spec.attempt(), spec.rank());
      !status.ok()) {
    std::fprintf(stderr, "fake trainer: %s\n", status.ToString().c_str());
    return training::STORAGE_ERROR;
  }
  Start(spec.job());
  learning_rate_ = spec.training().learning_rate();
  Resume(spec);
  const int64_t first = state_.step + 1;
  const int64_t every = std::max<int64_t>(spec.checkpoint().every_steps(), 1);
  const int64_t log_every = std::max(spec.training().log_every_steps(), 1);
  while (state_.step < spec.training().steps()) {
    Misbehave(spec);
    Pause(behaviour_.step_ms);
    Advance(state_);
    const bool last = state_.step == spec.training().steps();
    if (state_.step == first || state_.step % log_every == 0 || last) {
      WriteStep(spec);
    }
    if (!base::Exists(real_files_, out_)) {
      return Leave(training::DATA_MISSING,
                   absl::StrCat("the folder ", out_, " is gone"));
    }
    const bool stop = stop_requested != 0;
    if (state_.step % every == 0 || last || stop) {
      absl::Status saved = Save(spec);
      if (!saved.ok() && (last || stop)) {
        return Leave(training::STORAGE_ERROR, std::string(saved.message()));
      }
    }
    if (stop) return Leave(training::STOPPED, "stopped on request");
    if (const int code = EvaluateAll(spec, last); code != 0) return code;
  }
  return Leave(training::FINISHED, "");
}

int FakeTrainer::EvaluateAll(const training::TrainSpec& spec, bool at_end) {
  for (const training::Evaluation& evaluation : spec.evaluations()) {
    const bool due = evaluation.every_steps() > 0 &&
                     state_.step % evaluation.every_steps() == 0;
    const std::string id = absl::StrCat(NameOf(evaluation), "-", state_.step);
    const bool done = std::count(spec.finished_reports().begin(),
                                 spec.finished_reports().end(), id) > 0;
    if ((!due && !at_end) || done) continue;
    // What a report names must be there.
    absl::Status status = Save(spec);
    if (status.ok()) {
      status = Report(evaluation, spec.attempt(),
                      absl::StrCat(state_.step, "-", spec.attempt()));
    }
    if (!status.ok()) {
      return Leave(training::STORAGE_ERROR, std::string(status.message()));
    }
  }
  return 0;
}

absl::Status FakeTrainer::Report(const training::Evaluation& evaluation,
                                 int attempt, const std::string& checkpoint) {
  training::ProgressRecord record;
  record.mutable_evaluation()->set_name(NameOf(evaluation));
  record.mutable_evaluation()->set_step(state_.step);
  record.mutable_evaluation()->set_done(1);
  record.mutable_evaluation()->set_total(1);
  Tell(record);
  training::ReportWritten report;
  report.set_id(absl::StrCat(NameOf(evaluation), "-", state_.step));
  report.set_kind("evaluation");
  report.set_task(evaluation.task());
  report.set_step(state_.step);
  report.set_checkpoint(checkpoint);
  (*report.mutable_metrics())["grid_mean"] =
      static_cast<double>(state_.words[0] % 1000) / 1000;
  // A score that tests can choose.
  if (learning_rate_ > 0) {
    (*report.mutable_metrics())["diagonal_mean"] = learning_rate_;
  }
  return WriteReport(std::move(report), attempt,
                     absl::StrCat("{\"digest\":\"", DigestOf(state_), "\"}\n"));
}

absl::Status FakeTrainer::WriteReport(training::ReportWritten report,
                                      int attempt, const std::string& result) {
  report.set_folder(absl::StrCat("results/", report.id(), "-", attempt));
  const std::string folder = base::JoinPath(out_, report.folder());
  ORDO_RETURN_IF_ERROR(files_.MakeFolders(folder));
  ORDO_RETURN_IF_ERROR(
      base::AtomicWrite(files_, base::JoinPath(folder, "result.json"), result));
  auto* info = report.add_files();
  info->set_path("result.json");
  info->set_size_bytes(static_cast<int64_t>(result.size()));
  info->set_sha256(base::Sha256Hex(result));
  training::ProgressRecord record;
  *record.mutable_report() = std::move(report);
  ORDO_RETURN_IF_ERROR(Write(record));
  return progress_->Sync();
}

int FakeTrainer::Evaluate(const training::EvaluateSpec& spec) {
  if (absl::Status status = OpenProgress(spec.attempt(), /*rank=*/0);
      !status.ok()) {
    std::fprintf(stderr, "fake trainer: %s\n", status.ToString().c_str());
    return training::STORAGE_ERROR;
  }
  Start(spec.job());
  training::ProgressRecord record;
  record.mutable_started()->set_exact(true);
  Tell(record);
  for (const training::CheckpointSource& source : spec.checkpoints()) {
    auto read =
        ReadCheckpoint(real_files_, PathOf(source), source.manifest_sha256());
    if (!read.ok()) {
      return Leave(training::CHECKPOINT_DAMAGED,
                   std::string(read.status().message()));
    }
    state_ = *read;
    for (const training::Evaluation& evaluation : spec.evaluations()) {
      if (stop_requested != 0) return Leave(training::STOPPED, "stopped");
      Pause(behaviour_.step_ms);
      absl::Status status = Report(evaluation, spec.attempt(), source.name());
      if (!status.ok()) {
        return Leave(training::STORAGE_ERROR, std::string(status.message()));
      }
    }
  }
  return Leave(training::FINISHED, "");
}

int FakeTrainer::Summarize(const training::SummarizeSpec& spec) {
  if (absl::Status status = OpenProgress(spec.attempt(), /*rank=*/0);
      !status.ok()) {
    std::fprintf(stderr, "fake trainer: %s\n", status.ToString().c_str());
    return training::STORAGE_ERROR;
  }
  Start(spec.job());
  training::ProgressRecord record;
  record.mutable_started()->set_exact(true);
  Tell(record);
  if (stop_requested != 0) return Leave(training::STOPPED, "stopped");
  int num_failed = 0;
  std::string states;
  for (const training::PartResult& part : spec.parts()) {
    absl::StrAppend(&states, states.empty() ? "" : ",", "\"", part.job(),
                    "\":\"", part.state(), "\"");
    const bool has_diverged =
        !part.trial_of().empty() && part.reason() == "NON_FINITE";
    const bool as_meant = part.state() == "SUCCEEDED" ||
                          part.reason() == "STOPPED_EARLY" || has_diverged;
    if (!as_meant) ++num_failed;
  }
  if (std::count(spec.finished_reports().begin(), spec.finished_reports().end(),
                 spec.kind()) == 0) {
    training::ReportWritten report;
    report.set_id(spec.kind());
    report.set_kind(spec.kind());
    (*report.mutable_metrics())["parts"] = spec.parts_size();
    const absl::Status status =
        WriteReport(std::move(report), spec.attempt(),
                    absl::StrCat("{\"parts\":{", states, "}}\n"));
    if (!status.ok()) {
      return Leave(training::STORAGE_ERROR, std::string(status.message()));
    }
  }
  if (num_failed == 0) return Leave(training::FINISHED, "");
  return Leave(training::PART_FAILED,
               absl::StrCat(num_failed, " of ", spec.parts_size(),
                            " parts did not succeed"));
}

int FakeTrainer::Gate(const training::GateSpec& spec) {
  if (absl::Status status = OpenProgress(spec.attempt(), /*rank=*/0);
      !status.ok()) {
    std::fprintf(stderr, "fake trainer: %s\n", status.ToString().c_str());
    return training::STORAGE_ERROR;
  }
  Start(spec.job());
  training::ProgressRecord record;
  record.mutable_started()->set_exact(true);
  Tell(record);
  if (stop_requested != 0) return Leave(training::STOPPED, "stopped");
  Pause(behaviour_.step_ms);
  if (spec.finished_reports().count("gate") == 0) {
    training::ReportWritten report;
    report.set_id("gate");
    report.set_kind("gate");
    (*report.mutable_metrics())["passed"] = 1;
    const absl::Status status =
        WriteReport(std::move(report), spec.attempt(),
                    "{\"verdict\":\"pass\",\"outcome\":\"pass\"}\n");
    if (!status.ok()) {
      return Leave(training::STORAGE_ERROR, std::string(status.message()));
    }
  }
  return Leave(training::FINISHED, "");
}

template <typename Spec>
int Run(const std::string& spec_path, const std::string& out,
        const std::string& storage_root) {
  base::PosixFilesystem files;
  const auto text = base::ReadFile(files, spec_path, kMaxSpecBytes);
  Spec spec;
  const bool is_message = absl::EndsWith(spec_path, ".pb");
  if (!text.ok() ||
      !(is_message
            ? spec.ParseFromString(*text)
            : google::protobuf::util::JsonStringToMessage(*text, &spec).ok())) {
    std::fprintf(stderr, "fake trainer: cannot read %s\n", spec_path.c_str());
    return training::BAD_SPEC;
  }
  const char* wanted = std::getenv("ORDO_FAKE");
  const auto behaviour =
      ParseBehaviour(wanted == nullptr ? "" : wanted, spec.job());
  if (!behaviour.ok()) {
    std::fprintf(stderr, "fake trainer: %s\n",
                 behaviour.status().ToString().c_str());
    return training::BAD_SPEC;
  }
  base::PrintStacksOnQuit();
  signal(SIGTERM, behaviour->ignore_term != 0 ? SIG_IGN : OnTerm);
  FakeTrainer trainer(out, storage_root, *behaviour);
  if constexpr (std::is_same_v<Spec, training::TrainSpec>) {
    return trainer.Train(spec);
  } else if constexpr (std::is_same_v<Spec, training::SummarizeSpec>) {
    return trainer.Summarize(spec);
  } else if constexpr (std::is_same_v<Spec, training::GateSpec>) {
    return trainer.Gate(spec);
  } else {
    return trainer.Evaluate(spec);
  }
}

// As ordo-trainer does, on a device whose kernels are all right; or what
// ORDO_FAKE_PROBE says, where `crash` is none of them.
int Probe() {
  const char* const text = std::getenv("ORDO_FAKE_PROBE");
  if (text != nullptr && std::string(text) == "crash") std::raise(SIGILL);
  std::puts(text != nullptr
                ? text
                : R"({"kind": "cpu", "passed": ["attention/fake"]})");
  return training::FINISHED;
}

int Main(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1 && arguments[1] == "probe") return Probe();
  std::string out;
  std::string storage_root = ".";
  for (size_t i = 3; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--out") out = arguments[i + 1];
    if (arguments[i] == "--storage-root") storage_root = arguments[i + 1];
  }
  if (arguments.size() < 5 || out.empty()) {
    std::fprintf(stderr,
                 "usage: fake_trainer train|evaluate|summarize|gate SPEC --out "
                 "DIR [--storage-root DIR] [--deployment DIR]\n");
    return training::BAD_SPEC;
  }
  if (arguments[1] == "evaluate") {
    return Run<training::EvaluateSpec>(arguments[2], out, storage_root);
  }
  if (arguments[1] == "summarize") {
    return Run<training::SummarizeSpec>(arguments[2], out, storage_root);
  }
  if (arguments[1] == "gate") {
    return Run<training::GateSpec>(arguments[2], out, storage_root);
  }
  return Run<training::TrainSpec>(arguments[2], out, storage_root);
}

}  // namespace
}  // namespace ordo::tests::fake

int main(int argc, char** argv) {
  return ordo::tests::fake::Main(std::vector<std::string>(argv, argv + argc));
}
