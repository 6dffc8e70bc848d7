#ifndef ORDO_WORKER_AGENT_NVML_H_
#define ORDO_WORKER_AGENT_NVML_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/agent/gpus.h"

namespace ordo::worker::agent {

// NVIDIA's management library, which comes with the driver and is looked for at
// run time: a machine without it has no GPUs. Its calls may take as long as the
// driver likes. One thread at a time.
class Nvml {
 public:
  static constexpr char kLibrary[] = "libnvidia-ml.so.1";

  // NOT_FOUND: there is no such library. UNAVAILABLE: it, or its driver, does
  // not work; the message says what the driver says.
  static absl::StatusOr<std::unique_ptr<Nvml>> Load(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // By index of their device files; as they were when the library was loaded.
  const std::vector<Gpu>& gpus() const { return gpus_; }

  // UNAVAILABLE: the GPU does not answer. NOT_FOUND: there is none of this
  // name.
  absl::StatusOr<GpuUse> Use(const std::string& uuid) const;

  // What the driver has reported since the last call, oldest first, without a
  // time; does not wait. Empty where the driver reports nothing.
  std::vector<GpuFault> TakeFaults();

 private:
  struct Library;

  explicit Nvml(std::unique_ptr<Library> library);
  absl::Status ListGpus();
  // One that does not answer is left out, and the log says so.
  absl::StatusOr<Gpu> ReadGpu(unsigned index, const std::string& version);
  // Has errors reported, of GPUs that can.
  void Listen();

  const std::unique_ptr<Library> library_;
  std::vector<Gpu> gpus_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_NVML_H_
