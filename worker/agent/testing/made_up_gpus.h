#ifndef ORDO_WORKER_AGENT_TESTING_MADE_UP_GPUS_H_
#define ORDO_WORKER_AGENT_TESTING_MADE_UP_GPUS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/agent/nvml.h"

namespace ordo::worker::agent::testing {

// GPUs by fake_nvml.cc, as a file says. One at a time in a process.
class MadeUpGpus {
 public:
  // Without GPUs' driver until something is written. `folder` exists.
  explicit MadeUpGpus(const std::string& folder);
  ~MadeUpGpus();
  MadeUpGpus(const MadeUpGpus&) = delete;
  MadeUpGpus& operator=(const MadeUpGpus&) = delete;

  // All GPUs and events, as fake_nvml.cc reads them.
  void Write(const std::string& text);

  absl::StatusOr<std::unique_ptr<Nvml>> Load() const;

 private:
  const std::string path_;
};

}  // namespace ordo::worker::agent::testing

#endif  // ORDO_WORKER_AGENT_TESTING_MADE_UP_GPUS_H_
