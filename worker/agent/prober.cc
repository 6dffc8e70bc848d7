#include "worker/agent/prober.h"

#include <algorithm>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "base/text/lines.h"
#include "base/version/version.h"
#include "google/protobuf/util/json_util.h"
#include "worker/agent/devices.h"
#include "worker/agent/facts.h"
#include "worker/agent/orphans.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::StoredProbe;
using ::ordo::training::v1::KernelProbe;
using ::ordo::workers::v1::Device;

constexpr size_t kMaxReportBytes = 4 << 20;
constexpr size_t kMaxInfoBytes = 4 << 20;
// How long a probe that is killed may take to leave.
constexpr absl::Duration kLeaveLimit = absl::Seconds(10);

std::string TextOf(base::Filesystem& files, const std::string& path) {
  return base::ReadFile(files, path, kMaxInfoBytes).value_or("");
}

// The processor's name and what it can do, of its first core.
std::string ProcessorText(base::Filesystem& files) {
  const std::string text = TextOf(files, "/proc/cpuinfo");
  return absl::StrCat(base::LineValue(text, "model name"), "\n",
                      base::LineValue(text, "flags"),
                      base::LineValue(text, "Features"));
}

// The device that is probed for another: slots of a processor are alike.
std::string ProbedAs(const std::string& device) {
  return absl::StartsWith(device, "cpu:") ? "cpu:0" : device;
}

// What a person should read of a program's last words.
std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines =
      absl::StrSplit(std::string(absl::StripAsciiWhitespace(text)), '\n');
  return lines.back();
}

}  // namespace

Prober::Prober(const TaskOptions& options, const std::vector<Device>& devices,
               const ProberTools& tools)
    : options_(options),
      devices_(devices),
      files_(tools.files),
      clock_(tools.clock),
      metrics_(tools.metrics),
      background_(tools.background),
      plan_(devices) {}

Prober::~Prober() {
  if (device_.empty()) return;
  // It may have left meanwhile.
  base::SignalProcess(process_, SIGKILL).IgnoreError();
  base::WaitForExit(process_.pid, kLeaveLimit).status().IgnoreError();
  close(file_);
}

std::string Prober::PathOf(const std::string& device,
                           const char* ending) const {
  return absl::StrCat(options_.state_folder, "/probes/",
                      absl::StrReplaceAll(device, {{":", "-"}}), ending);
}

std::string Prober::BuildIdAt(const std::string& path) {
  constexpr char kNotThere[] = "not there";
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return kNotThere;
  const std::tuple<uint64_t, int64_t, int64_t> file(
      info.st_ino, info.st_size,
      absl::ToUnixNanos(absl::TimeFromTimespec(info.st_mtim)));
  const auto known = builds_.find(path);
  if (known != builds_.end() && known->second.file == file) {
    return known->second.id;
  }
  const auto id = base::BuildIdOf(path);
  if (!id.ok()) return kNotThere;
  builds_[path] = {file, *id};
  return *id;
}

std::string Prober::KeyOf(const std::string& device) {
  const std::string trainer = BuildIdAt(options_.trainer);
  if (!absl::StartsWith(device, "cuda:")) {
    return absl::StrCat(trainer, "\n", ProcessorText(files_));
  }
  const std::string kernels =
      base::GpuKernelsIn(base::FolderOf(options_.trainer));
  return absl::StrCat(
      trainer, "\n", BuildIdAt(kernels), "\n",
      GpuIdentity(device, options_.devices_root), "\n",
      TextOf(files_, options_.devices_root + "/proc/driver/nvidia/version"));
}

void Prober::FindKeys() {
  finding_keys_ = true;
  background_([this] {
    std::map<std::string, std::string> keys;
    for (const Device& device : devices_) {
      keys[device.name()] = KeyOf(device.name());
    }
    base::MutexLock lock(mutex_);
    keys_ = std::move(keys);
  });
}

void Prober::TakeKeys(bool may_withhold) {
  std::optional<std::map<std::string, std::string>> keys;
  {
    base::MutexLock lock(mutex_);
    keys.swap(keys_);
  }
  if (!keys) return;
  finding_keys_ = false;
  if (!may_withhold) {
    // An attempt has come meanwhile.
    keys_due_ = true;
    return;
  }
  has_keys_ = true;
  for (const Device& device : devices_) {
    StoredProbe stored;
    // What cannot be read is probed again.
    if (!stored.ParseFromString(
            TextOf(files_, PathOf(ProbedAs(device.name()), ".pb")))) {
      stored.Clear();
    }
    if (plan_.OnKey(device.name(), keys->at(device.name()), stored)) {
      Tell(device.name(), "kernels probed before", stored.probe());
    }
  }
}

void Prober::Step(bool idle, const std::set<std::string>& held) {
  plan_.OnHeld(held);
  const absl::Duration now = clock_.Monotonic();
  if (now >= next_keys_) {
    keys_due_ = true;
    next_keys_ = now + kKeyPeriod;
  }
  const bool may_withhold = idle || !has_keys_;
  if (keys_due_ && may_withhold && !finding_keys_) {
    keys_due_ = false;
    FindKeys();
  }
  TakeKeys(may_withhold);
  if (!device_.empty() && now >= deadline_ && !killed_) {
    killed_ = true;
    base::SignalProcess(process_, SIGKILL).IgnoreError();
  }
  while (const auto next = plan_.Next(now)) {
    device_ = *next;
    plan_.OnStarted(*next);
    const absl::Status status = Start(*next);
    if (status.ok()) return;
    Fail(status);
  }
}

absl::Status Prober::Start(const std::string& device) {
  const std::string report = PathOf(device, ".json");
  ORDO_RETURN_IF_ERROR(files_.MakeFolders(base::FolderOf(report)));
  base::SpawnOptions spawn;
  spawn.argv = {options_.trainer,
                "probe",
                "--device",
                ProbedAs(device),
                "-o",
                "json",
                "--deployment",
                options_.deployment};
  auto added = DeviceEnvironment({device}, options_.gpu_uuids);
  added.emplace_back(kTaskMark, PathOf(device, ""));
  spawn.environment = EnvironmentWith(options_.environment, added);
  spawn.stdout_file = report;
  spawn.stderr_file = PathOf(device, ".log");
  spawn.new_session = true;
  for (const std::string& file : {spawn.stdout_file, spawn.stderr_file}) {
    if (!base::Exists(files_, file)) continue;
    ORDO_RETURN_IF_ERROR(files_.RemoveFile(file));
  }
  const auto process = base::Spawn(spawn);
  if (!process.ok()) {
    return absl::FailedPreconditionError(CannotExecute(
        options_.trainer, std::string(process.status().message())));
  }
  process_ = *process;
  file_ = static_cast<int>(syscall(SYS_pidfd_open, process_.pid, 0));
  deadline_ = clock_.Monotonic() + kLimit;
  killed_ = false;
  return absl::OkStatus();
}

bool Prober::OnExit(pid_t child, const base::ExitStatus& status) {
  if (device_.empty() || child != process_.pid) return false;
  if (file_ >= 0) close(file_);
  file_ = -1;
  const auto probe = ReadReport(status);
  if (probe.ok()) {
    Take(*probe);
  } else {
    Fail(probe.status());
  }
  return true;
}

absl::StatusOr<KernelProbe> Prober::ReadReport(
    const base::ExitStatus& status) const {
  if (!status.ok()) {
    const std::string words = LastLine(TextOf(files_, PathOf(device_, ".log")));
    return absl::UnavailableError(absl::StrCat(
        killed_
            ? absl::StrCat("it took longer than ", absl::FormatDuration(kLimit))
            : status.ToString(),
        words.empty() ? "" : ": ", words));
  }
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::ReadFile(files_, PathOf(device_, ".json"), kMaxReportBytes));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  KernelProbe probe;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(text, &probe, options);
  if (!parsed.ok()) {
    return absl::UnavailableError(
        absl::StrCat("its report cannot be read: ", parsed.ToString()));
  }
  return probe;
}

void Prober::Take(const KernelProbe& probe) {
  const std::string device = std::exchange(device_, "");
  if (!plan_.OnReport(probe, clock_.Monotonic())) {
    base::LogInfo("probe of what was before", {{"device", device}});
    return;
  }
  metrics_.kernel_probes.With({probe.failed().empty() ? "right" : "wrong"})
      .Increment();
  Tell(device, "kernels probed", probe);
  if (!IsWhole(probe)) return;
  const absl::Status stored =
      base::AtomicWrite(files_, PathOf(ProbedAs(device), ".pb"),
                        plan_.ToStore(device).SerializeAsString());
  if (!stored.ok()) {
    // The next worker process probes again.
    base::LogWarning("probe not stored",
                     {{"device", device}, {"error", stored}});
  }
}

void Prober::Tell(const std::string& device, const char* event,
                  const KernelProbe& probe) {
  metrics_.wrong_kernels.With({device}).Set(probe.failed_size());
  base::LogInfo(event, {{"device", device},
                        {"passed", probe.passed_size()},
                        {"failed", probe.failed_size()}});
  for (const auto& failure : probe.failed()) {
    base::LogError("kernel wrong", {{"device", device},
                                    {"kernel", failure.kernel()},
                                    {"problem", failure.problem()},
                                    {"what", failure.message()},
                                    {"error", failure.error()},
                                    {"bound", failure.bound()}});
  }
}

void Prober::Fail(const absl::Status& status) {
  const std::string device = std::exchange(device_, "");
  plan_.OnFailure(std::string(status.message()), clock_.Monotonic());
  metrics_.kernel_probes.With({"none"}).Increment();
  base::LogError("device withheld", {{"device", device}, {"error", status}});
}

absl::Duration Prober::TimeLeft() const {
  const absl::Duration now = clock_.Monotonic();
  absl::Duration left = std::min(plan_.TimeLeft(now), next_keys_ - now);
  if (!device_.empty() && !killed_) left = std::min(left, deadline_ - now);
  return left;
}

}  // namespace ordo::worker::agent
