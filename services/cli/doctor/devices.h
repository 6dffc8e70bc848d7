#ifndef ORDO_SERVICES_CLI_DOCTOR_DEVICES_H_
#define ORDO_SERVICES_CLI_DOCTOR_DEVICES_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "services/cli/doctor/finding.h"

namespace ordo::services::cli::doctor {

// Where facts of devices come from.
struct DeviceSources {
  // Where /dev lies; "" but in tests.
  std::string root;
  // NVIDIA's management library, which comes with the driver.
  std::string library = "libnvidia-ml.so.1";
  // ordo-trainer; empty: there is none on this machine.
  std::string trainer;
  // For one device's kernels: on a GPU they are loaded and some compiled first.
  absl::Duration probe_limit = absl::Minutes(5);
};

// What `ordo-trainer probe` said of one device.
struct DeviceProbe {
  // "cpu", "cuda:0".
  std::string device;
  // Every kernel was right.
  bool passed = false;
  // Its last line, or how it ended.
  std::string said;
};

struct DeviceFacts {
  // /dev/nvidia0 and so on.
  int num_gpu_files = 0;
  // The library is there; its version of the driver, and how many GPUs it names
  // (-1: it does not say, and `trouble` says why).
  bool has_library = false;
  std::string driver;
  int num_gpus = -1;
  std::string trouble;
  bool has_trainer = false;
  std::vector<DeviceProbe> probes;
};

// Of this machine. Takes seconds where there is a trainer.
DeviceFacts ReadDeviceFacts(const DeviceSources& sources);

// Checks named "devices/..." and "kernels/DEVICE".
Findings JudgeDevices(const DeviceFacts& facts);

}  // namespace ordo::services::cli::doctor

#endif  // ORDO_SERVICES_CLI_DOCTOR_DEVICES_H_
