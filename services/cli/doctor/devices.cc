#include "services/cli/doctor/devices.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/process/process.h"

namespace ordo::services::cli::doctor {
namespace {

constexpr size_t kMaxSaidBytes = 1 << 20;
constexpr absl::Duration kKillLimit = absl::Seconds(10);
constexpr unsigned kVersionBytes = 80;

int CountGpuFiles(const std::string& root) {
  base::PosixFilesystem files;
  const auto names = files.List(root + "/dev");
  if (!names.ok()) return 0;
  return static_cast<int>(
      std::count_if(names->begin(), names->end(), [](const std::string& name) {
        constexpr size_t kPrefix = 6;
        return absl::StartsWith(name, "nvidia") && name.size() > kPrefix &&
               std::all_of(name.begin() + kPrefix, name.end(),
                           [](unsigned char c) { return std::isdigit(c); });
      }));
}

// The calls of the library, by their names in the driver's own reference.
void AskLibrary(const std::string& library, DeviceFacts* facts) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  facts->has_library = true;
  const auto init = reinterpret_cast<int (*)()>(dlsym(handle, "nvmlInit_v2"));
  const auto version = reinterpret_cast<int (*)(char*, unsigned)>(
      dlsym(handle, "nvmlSystemGetDriverVersion"));
  const auto count = reinterpret_cast<int (*)(unsigned*)>(
      dlsym(handle, "nvmlDeviceGetCount_v2"));
  const auto shutdown =
      reinterpret_cast<int (*)()>(dlsym(handle, "nvmlShutdown"));
  if (init == nullptr || version == nullptr || count == nullptr ||
      shutdown == nullptr) {
    facts->trouble = library + " lacks calls of NVML";
  } else if (const int error = init(); error != 0) {
    facts->trouble = absl::StrCat("nvmlInit: error ", error);
  } else {
    char text[kVersionBytes] = {};
    if (version(text, kVersionBytes) == 0) facts->driver = text;
    unsigned number = 0;
    if (const int failed = count(&number); failed != 0) {
      facts->trouble = absl::StrCat("nvmlDeviceGetCount: error ", failed);
    } else {
      facts->num_gpus = static_cast<int>(number);
    }
    shutdown();
  }
  dlclose(handle);
}

// The last line that is not empty.
std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines =
      absl::StrSplit(text, '\n', absl::SkipWhitespace());
  return lines.empty() ? std::string() : lines.back();
}

// What a program said, and how it ended.
struct Said {
  bool ended_well = false;
  std::string last_line;
};

Said RunProbe(const DeviceSources& sources, const std::string& device,
              const std::string& output) {
  base::SpawnOptions spawn;
  spawn.argv = {sources.trainer, "probe", "--device", device};
  spawn.stdout_file = output;
  spawn.stderr_file = output;
  const auto process = base::Spawn(spawn);
  if (!process.ok()) return {false, std::string(process.status().message())};
  const auto ended = base::WaitForExit(process->pid, sources.probe_limit);
  if (!ended.ok()) {
    base::SignalProcess(*process, SIGKILL).IgnoreError();
    base::WaitForExit(process->pid, kKillLimit).status().IgnoreError();
    return {false, absl::StrCat("no answer within ",
                                absl::FormatDuration(sources.probe_limit))};
  }
  base::PosixFilesystem files;
  std::string line =
      LastLine(base::ReadFile(files, output, kMaxSaidBytes).value_or(""));
  if (line.empty()) line = ended->ToString();
  return {ended->ok(), line};
}

DeviceProbe Probe(const DeviceSources& sources, const std::string& device) {
  char name[] = "/tmp/ordo-doctor-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return {device, false, "no file can be made in /tmp"};
  close(file);
  const Said said = RunProbe(sources, device, name);
  unlink(name);
  return {device, said.ended_well, said.last_line};
}

Finding JudgeGpus(const DeviceFacts& facts) {
  const std::string files =
      absl::StrCat(facts.num_gpu_files, " device files /dev/nvidia<n>");
  if (!facts.has_library) {
    if (facts.num_gpu_files == 0) {
      return {"devices/gpus", Health::kOk, "no GPUs: jobs run on the CPU"};
    }
    return {"devices/gpus", Health::kFail,
            files + ", but no library of the driver (libnvidia-ml.so.1)",
            "install the driver's libraries, of the kernel module's version; "
            "in a container, let the runtime add them"};
  }
  if (facts.num_gpus < 0) {
    return {"devices/gpus",
            facts.num_gpu_files > 0 ? Health::kFail : Health::kWarn,
            "the driver does not answer: " + facts.trouble,
            "look at nvidia-smi and dmesg: the kernel module may not be "
            "loaded, or be of another version than its libraries"};
  }
  if (facts.num_gpus != facts.num_gpu_files) {
    return {"devices/gpus", Health::kWarn,
            absl::StrCat("the driver names ", facts.num_gpus, " GPUs, and ",
                         files, " are there"),
            "a GPU may have fallen off the bus (dmesg), or a container was "
            "given some of them only"};
  }
  return {"devices/gpus", Health::kOk,
          absl::StrCat(facts.num_gpus, " GPUs, driver ", facts.driver)};
}

}  // namespace

DeviceFacts ReadDeviceFacts(const DeviceSources& sources) {
  DeviceFacts facts;
  facts.num_gpu_files = CountGpuFiles(sources.root);
  AskLibrary(sources.library, &facts);
  facts.has_trainer = !sources.trainer.empty();
  if (!facts.has_trainer) return facts;
  facts.probes.push_back(Probe(sources, "cpu"));
  for (int i = 0; i < facts.num_gpus; ++i) {
    facts.probes.push_back(Probe(sources, absl::StrCat("cuda:", i)));
  }
  return facts;
}

Findings JudgeDevices(const DeviceFacts& facts) {
  Findings findings = {JudgeGpus(facts)};
  if (!facts.has_trainer) {
    findings.push_back({"devices/trainer", Health::kWarn,
                        "no ordo-trainer beside this program",
                        "install it where jobs are to run; elsewhere it is "
                        "not needed"});
  }
  for (const DeviceProbe& probe : facts.probes) {
    findings.push_back({"kernels/" + probe.device,
                        probe.passed ? Health::kOk : Health::kFail, probe.said,
                        probe.passed
                            ? ""
                            : absl::StrCat("ordo-trainer probe --device ",
                                           probe.device, " says more")});
  }
  return findings;
}

}  // namespace ordo::services::cli::doctor
