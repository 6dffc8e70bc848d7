// The management library of a machine with made-up GPUs, for tests: a shared
// library with the calls of nvml_api.h. The file that ORDO_FAKE_NVML names has
// one line a GPU and is read again at each call:
//   <minor> <uuid> <total MiB> <used MiB> [pid:<MiB> ...] [draw:<MiB>] [dead]
//     [util:<percent>] [temp:<degrees>] [power:<mW>] [corrected:<errors>]
//     [uncorrected:<errors>]
// Each line "xid <index> <number>" or "ecc <index>" beyond those already told
// is an event. Without the file there is no driver.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "worker/agent/nvml_api.h"

namespace {

using ordo::worker::agent::nvml::Device;
using ordo::worker::agent::nvml::EventData;
using ordo::worker::agent::nvml::EventSet;
using ordo::worker::agent::nvml::Memory;
using ordo::worker::agent::nvml::ProcessInfo;
using ordo::worker::agent::nvml::Return;
using ordo::worker::agent::nvml::Utilization;

constexpr Return kSuccess = 0;
constexpr Return kInvalidArgument = 2;
constexpr Return kNotSupported = 3;
constexpr Return kInsufficientSize = 7;
constexpr Return kDriverNotLoaded = 9;
constexpr Return kTimeout = 10;
constexpr Return kGpuIsLost = 15;
constexpr unsigned long long kMib = 1 << 20;
constexpr int kMaxGpus = 8;

struct FakeGpu {
  unsigned minor = 0;
  std::string uuid;
  unsigned long long total = 0;
  unsigned long long used = 0;
  std::vector<ProcessInfo> computing;
  std::vector<ProcessInfo> drawing;
  // By name: util, temp, power, corrected, uncorrected. What is not given is
  // not supported.
  std::map<std::string, unsigned> measured;
  bool dead = false;
};

struct FakeEvent {
  int gpu = 0;
  unsigned long long type = 0;
  unsigned long long data = 0;
};

struct Machine {
  bool present = false;
  std::vector<FakeGpu> gpus;
  std::vector<FakeEvent> events;
};

// Handles are addresses in here.
char handles[kMaxGpus];
size_t num_events_told = 0;

Machine Read() {
  Machine machine;
  const char* path = std::getenv("ORDO_FAKE_NVML");
  std::ifstream file(path == nullptr ? "" : path);
  machine.present = file.is_open();
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "xid" || word == "ecc") {
      FakeEvent event;
      event.type = word == "xid" ? 8 : 2;
      words >> event.gpu >> event.data;
      machine.events.push_back(event);
      continue;
    }
    FakeGpu gpu;
    gpu.minor = static_cast<unsigned>(std::atoi(word.c_str()));
    words >> gpu.uuid >> gpu.total >> gpu.used;
    while (words >> word) {
      if (word == "dead") gpu.dead = true;
      const size_t colon = word.find(':');
      if (colon == std::string::npos) continue;
      const std::string name = word.substr(0, colon);
      if (name == "util" || name == "temp" || name == "power" ||
          name == "corrected" || name == "uncorrected") {
        gpu.measured[name] =
            static_cast<unsigned>(std::atoi(word.c_str() + colon + 1));
        continue;
      }
      ProcessInfo process{};
      process.pid = static_cast<unsigned>(std::atoi(word.c_str()));
      process.used_bytes =
          kMib * static_cast<unsigned>(std::atoi(word.c_str() + colon + 1));
      (word.rfind("draw", 0) == 0 ? gpu.drawing : gpu.computing)
          .push_back(process);
    }
    machine.gpus.push_back(gpu);
  }
  return machine;
}

// Calls `use` with the GPU of a handle.
template <typename F>
Return With(Device device, F use) {
  const Machine machine = Read();
  const size_t index =
      static_cast<size_t>(reinterpret_cast<char*>(device) - handles);
  if (index >= machine.gpus.size()) return kInvalidArgument;
  if (machine.gpus[index].dead) return kGpuIsLost;
  return use(machine.gpus[index]);
}

template <typename Number>
Return PutMeasured(Device device, const char* name, Number* to) {
  return With(device, [&](const FakeGpu& gpu) {
    const auto found = gpu.measured.find(name);
    if (found == gpu.measured.end()) return kNotSupported;
    *to = found->second;
    return kSuccess;
  });
}

Return PutText(const std::string& text, char* to, unsigned num_bytes) {
  if (text.size() >= num_bytes) return kInsufficientSize;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

Return PutList(const std::vector<ProcessInfo>& list, unsigned* count,
               ProcessInfo* to) {
  const unsigned room = *count;
  *count = static_cast<unsigned>(list.size());
  if (list.size() > room) return kInsufficientSize;
  for (size_t i = 0; i < list.size(); ++i) to[i] = list[i];
  return kSuccess;
}

}  // namespace

extern "C" {

Return nvmlInit_v2() { return Read().present ? kSuccess : kDriverNotLoaded; }
Return nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(Return result) {
  return result == kGpuIsLost ? "GPU is lost" : "Driver Not Loaded";
}
Return nvmlSystemGetDriverVersion(char* version, unsigned num_bytes) {
  return PutText("550.54.15", version, num_bytes);
}
Return nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(Read().gpus.size());
  return kSuccess;
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  *device = reinterpret_cast<Device>(handles + index);
  return kSuccess;
}
Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned num_bytes) {
  return With(device, [&](const FakeGpu& gpu) {
    return PutText(gpu.uuid, uuid, num_bytes);
  });
}
Return nvmlDeviceGetName(Device device, char* name, unsigned num_bytes) {
  return With(device, [&](const FakeGpu&) {
    return PutText("Made-up GPU", name, num_bytes);
  });
}
Return nvmlDeviceGetMinorNumber(Device device, unsigned* minor) {
  return With(device, [&](const FakeGpu& gpu) {
    *minor = gpu.minor;
    return kSuccess;
  });
}
Return nvmlDeviceGetMemoryInfo_v2(Device device, Memory* memory) {
  if (memory->version != ordo::worker::agent::nvml::kMemoryVersion) {
    return kInvalidArgument;
  }
  return With(device, [&](const FakeGpu& gpu) {
    memory->total = gpu.total * kMib;
    memory->used = gpu.used * kMib;
    memory->free = memory->total - memory->used;
    return kSuccess;
  });
}
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count,
                                               ProcessInfo* list) {
  return With(device, [&](const FakeGpu& gpu) {
    return PutList(gpu.computing, count, list);
  });
}
Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* count,
                                                ProcessInfo* list) {
  return With(device, [&](const FakeGpu& gpu) {
    return PutList(gpu.drawing, count, list);
  });
}
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* rates) {
  return PutMeasured(device, "util", &rates->gpu);
}
Return nvmlDeviceGetTemperature(Device device, int, unsigned* degrees) {
  return PutMeasured(device, "temp", degrees);
}
Return nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return PutMeasured(device, "power", milliwatts);
}
Return nvmlDeviceGetTotalEccErrors(Device device, int kind, int,
                                   unsigned long long* count) {
  return PutMeasured(device, kind == 0 ? "corrected" : "uncorrected", count);
}
Return nvmlEventSetCreate(EventSet* set) {
  *set = reinterpret_cast<EventSet>(handles);
  return kSuccess;
}
Return nvmlEventSetFree(EventSet) { return kSuccess; }
Return nvmlDeviceRegisterEvents(Device, unsigned long long, EventSet) {
  return kSuccess;
}
Return nvmlEventSetWait_v2(EventSet, EventData* data, unsigned) {
  const Machine machine = Read();
  if (num_events_told >= machine.events.size()) return kTimeout;
  const FakeEvent& event = machine.events[num_events_told++];
  data->device = reinterpret_cast<Device>(handles + event.gpu);
  data->type = event.type;
  data->data = event.data;
  return kSuccess;
}

}  // extern "C"
