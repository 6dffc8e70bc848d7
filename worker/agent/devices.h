#ifndef ORDO_WORKER_AGENT_DEVICES_H_
#define ORDO_WORKER_AGENT_DEVICES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/ordo/workers/v1/workers.pb.h"

namespace ordo::worker::agent {

// The devices named `<kind>:<index>`, each of which must exist on the machine:
// cpu:0 always does; cuda:N is /dev/nvidiaN under `root` ("" but in tests).
// None named: cpu:0. INVALID_ARGUMENT names every field that is wrong and what
// there is.
absl::StatusOr<std::vector<::ordo::workers::v1::Device>> FindDevices(
    const std::vector<std::string>& names, const std::string& root);

// What a task on these devices has in its environment besides: the GPUs that it
// sees, which are its cuda:0 and so on, by the names that the driver under
// `root` has for them, and by their numbers where it says nothing. A task
// without one sees none.
std::vector<std::pair<std::string, std::string>> DeviceEnvironment(
    const std::vector<std::string>& devices, const std::string& root);

// What lasts of the GPU cuda:N, by the driver under `root`: its model and UUID;
// empty where the driver says nothing.
std::string GpuIdentity(const std::string& device, const std::string& root);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_DEVICES_H_
