#ifndef ORDO_WORKER_AGENT_DEVICES_H_
#define ORDO_WORKER_AGENT_DEVICES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "worker/agent/gpus.h"

namespace ordo::worker::agent {

// The GPUs that have a device file /dev/nvidiaN under `root` ("" but in tests),
// with what the driver's folder in /proc says of them: where its management
// library (nvml.h) does not tell.
std::vector<Gpu> GpusWithFiles(const std::string& root);

// What a machine has of devices.
struct DevicesPresent {
  // One slot for attempts each, cpu:0 and so on.
  int num_cpus = 1;
  std::vector<Gpu> gpus;
};

// The devices named `<kind>:<index>`, each of which must exist on the machine.
// None named: cpu:0 and all GPUs. INVALID_ARGUMENT names every field that is
// wrong and what there is.
absl::StatusOr<std::vector<::ordo::workers::v1::Device>> FindDevices(
    const std::vector<std::string>& names, const DevicesPresent& present);

// UUIDs by the names of devices that have one.
std::map<std::string, std::string> UuidsOf(
    const std::vector<::ordo::workers::v1::Device>& devices);

// What a task on these devices has in its environment besides: the GPUs that it
// sees, which are its cuda:0 and so on, by UUID, and by their numbers where
// that is not known. A task without one sees none.
std::vector<std::pair<std::string, std::string>> DeviceEnvironment(
    const std::vector<std::string>& devices,
    const std::map<std::string, std::string>& uuids);

// What lasts of the GPU cuda:N, by the driver under `root`: its model and UUID;
// empty where the driver says nothing.
std::string GpuIdentity(const std::string& device, const std::string& root);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_DEVICES_H_
