#ifndef ORDO_WORKER_AGENT_NVML_API_H_
#define ORDO_WORKER_AGENT_NVML_API_H_

#include <cstdint>

// The part of NVIDIA's management library that is called here, as its binary
// interface has it ("NVML API Reference Guide", drivers from 510 on).

namespace ordo::worker::agent::nvml {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kTimeout = 10;

// Only pointed to.
struct DeviceHandle;
struct EventSetHandle;
using Device = DeviceHandle*;
using EventSet = EventSetHandle*;

// nvmlMemory_v2_t.
struct Memory {
  unsigned version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
inline constexpr unsigned kMemoryVersion = sizeof(Memory) | (2u << 24);

// nvmlProcessInfo_t of version 3 of its calls.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};
// In place of used_bytes: not known.
inline constexpr unsigned long long kUnknownBytes = ~0ull;

// nvmlEventData_t of version 2.
struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;
  unsigned gpu_instance;
  unsigned compute_instance;
};
inline constexpr unsigned long long kDoubleBitEvent = 2;
inline constexpr unsigned long long kXidEvent = 8;

// nvmlUtilization_t, in percent.
struct Utilization {
  unsigned gpu;
  unsigned memory;
};
inline constexpr int kGpuSensor = 0;
inline constexpr int kCorrectedErrors = 0;
inline constexpr int kUncorrectedErrors = 1;
// Since the driver was loaded.
inline constexpr int kVolatileCounts = 0;

inline constexpr unsigned kUuidBytes = 96;
inline constexpr unsigned kNameBytes = 96;
inline constexpr unsigned kVersionBytes = 80;

// Each call that is used: what it takes, and its name in the library.
#define ORDO_NVML_CALLS(CALL)                                          \
  CALL(Init, "nvmlInit_v2", ())                                        \
  CALL(Shutdown, "nvmlShutdown", ())                                   \
  CALL(DriverVersion, "nvmlSystemGetDriverVersion", (char*, unsigned)) \
  CALL(Count, "nvmlDeviceGetCount_v2", (unsigned*))                    \
  CALL(ByIndex, "nvmlDeviceGetHandleByIndex_v2", (unsigned, Device*))  \
  CALL(Uuid, "nvmlDeviceGetUUID", (Device, char*, unsigned))           \
  CALL(Name, "nvmlDeviceGetName", (Device, char*, unsigned))           \
  CALL(Minor, "nvmlDeviceGetMinorNumber", (Device, unsigned*))         \
  CALL(MemoryInfo, "nvmlDeviceGetMemoryInfo_v2", (Device, Memory*))    \
  CALL(ComputeProcesses, "nvmlDeviceGetComputeRunningProcesses_v3",    \
       (Device, unsigned*, ProcessInfo*))                              \
  CALL(GraphicsProcesses, "nvmlDeviceGetGraphicsRunningProcesses_v3",  \
       (Device, unsigned*, ProcessInfo*))                              \
  CALL(EventSetCreate, "nvmlEventSetCreate", (EventSet*))              \
  CALL(EventSetFree, "nvmlEventSetFree", (EventSet))                   \
  CALL(RegisterEvents, "nvmlDeviceRegisterEvents",                     \
       (Device, unsigned long long, EventSet))                         \
  CALL(EventSetWait, "nvmlEventSetWait_v2", (EventSet, EventData*, unsigned))

// Those that are used where the library has them.
#define ORDO_NVML_OPTIONAL_CALLS(CALL)                                    \
  CALL(UtilizationRates, "nvmlDeviceGetUtilizationRates",                 \
       (Device, Utilization*))                                            \
  CALL(Temperature, "nvmlDeviceGetTemperature", (Device, int, unsigned*)) \
  CALL(PowerUsage, "nvmlDeviceGetPowerUsage", (Device, unsigned*))        \
  CALL(TotalEccErrors, "nvmlDeviceGetTotalEccErrors",                     \
       (Device, int, int, unsigned long long*))

}  // namespace ordo::worker::agent::nvml

#endif  // ORDO_WORKER_AGENT_NVML_API_H_
