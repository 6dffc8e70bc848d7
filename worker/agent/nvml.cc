#include "worker/agent/nvml.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status/status.h"
#include "worker/agent/nvml_api.h"

namespace ordo::worker::agent {
namespace {

// Lists of processes grow while they are asked for.
constexpr int kMaxListTries = 4;
// Faults taken in one call; the rest waits for the next.
constexpr int kMaxFaults = 64;

}  // namespace

struct Nvml::Library {
  ~Library() {
    if (events != nullptr) EventSetFree(events);
    if (initialised) Shutdown();
    if (handle != nullptr) dlclose(handle);
  }

  // UNAVAILABLE: a call is missing.
  absl::Status Resolve();
  absl::Status Check(nvml::Return result, const std::string& what) const;

  void* handle = nullptr;
  bool initialised = false;
  nvml::EventSet events = nullptr;
  std::map<std::string, nvml::Device> devices;
  // Names the numbers that calls return; null in libraries without it.
  const char* (*ErrorString)(nvml::Return) = nullptr;
#define ORDO_NVML_MEMBER(member, name, arguments) \
  nvml::Return(*member) arguments = nullptr;
  using Device = nvml::Device;
  using Memory = nvml::Memory;
  using ProcessInfo = nvml::ProcessInfo;
  using EventSet = nvml::EventSet;
  using EventData = nvml::EventData;
  using Utilization = nvml::Utilization;
  ORDO_NVML_CALLS(ORDO_NVML_MEMBER)
  // Null in libraries without them.
  ORDO_NVML_OPTIONAL_CALLS(ORDO_NVML_MEMBER)
#undef ORDO_NVML_MEMBER

  using ListCall = nvml::Return (*)(Device, unsigned*, ProcessInfo*);
  absl::StatusOr<std::vector<GpuProcess>> List(ListCall call,
                                               Device device) const;
  // What else the driver tells of a GPU.
  void Measure(Device device, GpuUse* use) const;
};

absl::Status Nvml::Library::Resolve() {
  const auto find = [this](const char* name, auto* call) -> absl::Status {
    *call = reinterpret_cast<std::remove_pointer_t<decltype(call)>>(
        dlsym(handle, name));
    if (*call != nullptr) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("the driver of GPUs is too old: its management library "
                     "has no ",
                     name, "; install driver 510 or newer"));
  };
#define ORDO_NVML_FIND(member, name, arguments) \
  ORDO_RETURN_IF_ERROR(find(name, &(member)));
  ORDO_NVML_CALLS(ORDO_NVML_FIND)
#undef ORDO_NVML_FIND
#define ORDO_NVML_TRY(member, name, arguments) \
  find(name, &(member)).IgnoreError();
  ORDO_NVML_OPTIONAL_CALLS(ORDO_NVML_TRY)
#undef ORDO_NVML_TRY
  find("nvmlErrorString", &ErrorString).IgnoreError();
  return absl::OkStatus();
}

absl::Status Nvml::Library::Check(nvml::Return result,
                                  const std::string& what) const {
  if (result == nvml::kSuccess) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(what, ": ",
                   ErrorString == nullptr ? absl::StrCat("error ", result)
                                          : absl::StrCat(ErrorString(result))));
}

absl::StatusOr<std::vector<GpuProcess>> Nvml::Library::List(
    ListCall call, nvml::Device device) const {
  std::vector<nvml::ProcessInfo> infos(16);
  for (int i = 0; i < kMaxListTries; ++i) {
    unsigned count = static_cast<unsigned>(infos.size());
    const nvml::Return result = call(device, &count, infos.data());
    if (result == nvml::kNotSupported) return std::vector<GpuProcess>{};
    if (result == nvml::kInsufficientSize) {
      infos.resize(std::max<size_t>(count, infos.size()) * 2);
      continue;
    }
    ORDO_RETURN_IF_ERROR(Check(result, "list its processes"));
    std::vector<GpuProcess> processes;
    for (unsigned k = 0; k < count; ++k) {
      const bool known = infos[k].used_bytes != nvml::kUnknownBytes;
      processes.push_back(
          {static_cast<pid_t>(infos[k].pid),
           known ? static_cast<int64_t>(infos[k].used_bytes) : 0});
    }
    return processes;
  }
  return absl::UnavailableError("list its processes: there are ever more");
}

void Nvml::Library::Measure(Device device, GpuUse* use) const {
  Utilization utilization{};
  if (UtilizationRates != nullptr &&
      UtilizationRates(device, &utilization) == nvml::kSuccess) {
    use->utilization = utilization.gpu / 100.0;
  }
  unsigned number = 0;
  if (Temperature != nullptr &&
      Temperature(device, nvml::kGpuSensor, &number) == nvml::kSuccess) {
    use->temperature_celsius = number;
  }
  if (PowerUsage != nullptr && PowerUsage(device, &number) == nvml::kSuccess) {
    use->power_watts = number / 1000.0;
  }
  const auto errors = [this, device](int kind) -> std::optional<int64_t> {
    unsigned long long count = 0;
    if (TotalEccErrors == nullptr ||
        TotalEccErrors(device, kind, nvml::kVolatileCounts, &count) !=
            nvml::kSuccess) {
      return std::nullopt;
    }
    return static_cast<int64_t>(count);
  };
  use->corrected_errors = errors(nvml::kCorrectedErrors);
  use->uncorrected_errors = errors(nvml::kUncorrectedErrors);
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Nvml::~Nvml() = default;

absl::StatusOr<std::unique_ptr<Nvml>> Nvml::Load(const std::string& path) {
  auto library = std::make_unique<Library>();
  library->handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    // Read once: a second call says nothing.
    const char* error = dlerror();
    return absl::NotFoundError(
        absl::StrCat("load the library of the GPUs' driver: ",
                     error == nullptr ? path : error));
  }
  ORDO_RETURN_IF_ERROR(library->Resolve());
  ORDO_RETURN_IF_ERROR(
      library->Check(library->Init(), "start the GPUs' management library"));
  library->initialised = true;
  auto nvml = std::unique_ptr<Nvml>(new Nvml(std::move(library)));
  ORDO_RETURN_IF_ERROR(nvml->ListGpus());
  nvml->Listen();
  return nvml;
}

absl::Status Nvml::ListGpus() {
  const Library& library = *library_;
  std::array<char, nvml::kVersionBytes> version{};
  ORDO_RETURN_IF_ERROR(
      library.Check(library.DriverVersion(version.data(), version.size()),
                    "ask for the driver's version"));
  unsigned count = 0;
  ORDO_RETURN_IF_ERROR(library.Check(library.Count(&count), "count GPUs"));
  for (unsigned i = 0; i < count; ++i) {
    const auto gpu = ReadGpu(i, version.data());
    if (gpu.ok()) {
      gpus_.push_back(*gpu);
    } else {
      base::LogError("GPU left out", {{"index", i}, {"error", gpu.status()}});
    }
  }
  std::sort(gpus_.begin(), gpus_.end(), [](const Gpu& a, const Gpu& b) {
    return std::pair(a.device.size(), a.device) <
           std::pair(b.device.size(), b.device);
  });
  return absl::OkStatus();
}

absl::StatusOr<Gpu> Nvml::ReadGpu(unsigned index, const std::string& version) {
  const Library& library = *library_;
  nvml::Device device = nullptr;
  std::array<char, nvml::kUuidBytes> uuid{};
  std::array<char, nvml::kNameBytes> name{};
  unsigned minor = 0;
  nvml::Memory memory{};
  memory.version = nvml::kMemoryVersion;
  const char what[] = "ask for a GPU";
  ORDO_RETURN_IF_ERROR(library.Check(library.ByIndex(index, &device), what));
  ORDO_RETURN_IF_ERROR(
      library.Check(library.Uuid(device, uuid.data(), uuid.size()), what));
  ORDO_RETURN_IF_ERROR(
      library.Check(library.Name(device, name.data(), name.size()), what));
  ORDO_RETURN_IF_ERROR(library.Check(library.Minor(device, &minor), what));
  ORDO_RETURN_IF_ERROR(
      library.Check(library.MemoryInfo(device, &memory), what));
  library_->devices[uuid.data()] = device;
  return Gpu{absl::StrCat("cuda:", minor), uuid.data(), name.data(),
             static_cast<int64_t>(memory.total), version};
}

void Nvml::Listen() {
  Library& library = *library_;
  if (library.EventSetCreate(&library.events) != nvml::kSuccess) {
    library.events = nullptr;
    return;
  }
  for (const auto& [uuid, device] : library.devices) {
    // A GPU without error correction has only the other kind.
    if (library.RegisterEvents(device, nvml::kXidEvent | nvml::kDoubleBitEvent,
                               library.events) != nvml::kSuccess) {
      library.RegisterEvents(device, nvml::kXidEvent, library.events);
    }
  }
}

absl::StatusOr<GpuUse> Nvml::Use(const std::string& uuid) const {
  const auto found = library_->devices.find(uuid);
  if (found == library_->devices.end()) {
    return absl::NotFoundError(absl::StrCat("no GPU is called ", uuid));
  }
  nvml::Memory memory{};
  memory.version = nvml::kMemoryVersion;
  ORDO_RETURN_IF_ERROR(library_->Check(
      library_->MemoryInfo(found->second, &memory), "ask for its memory"));
  GpuUse use;
  use.free_bytes = static_cast<int64_t>(memory.free);
  use.used_bytes = static_cast<int64_t>(memory.used);
  ORDO_ASSIGN_OR_RETURN(
      use.processes, library_->List(library_->ComputeProcesses, found->second));
  ORDO_ASSIGN_OR_RETURN(
      const auto drawing,
      library_->List(library_->GraphicsProcesses, found->second));
  for (const GpuProcess& process : drawing) use.drawing_bytes += process.bytes;
  library_->Measure(found->second, &use);
  return use;
}

std::vector<GpuFault> Nvml::TakeFaults() {
  std::vector<GpuFault> faults;
  if (library_->events == nullptr) return faults;
  for (int i = 0; i < kMaxFaults; ++i) {
    nvml::EventData event{};
    if (library_->EventSetWait(library_->events, &event, 0) != nvml::kSuccess) {
      break;
    }
    GpuFault fault;
    for (const auto& [uuid, device] : library_->devices) {
      if (device == event.device) fault.uuid = uuid;
    }
    if (event.type == nvml::kDoubleBitEvent) {
      fault.fault = DoubleBitFault();
    } else if (event.type != nvml::kXidEvent ||
               !DescribeXid(event.data, &fault.fault)) {
      continue;
    }
    faults.push_back(fault);
  }
  return faults;
}

}  // namespace ordo::worker::agent
