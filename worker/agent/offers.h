#ifndef ORDO_WORKER_AGENT_OFFERS_H_
#define ORDO_WORKER_AGENT_OFFERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/process/process.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "worker/agent/gpu_looker.h"
#include "worker/agent/gpu_watch.h"
#include "worker/agent/nvml.h"
#include "worker/agent/prober.h"

namespace ordo::worker::agent {

// Which devices of the machine are offered: those whose kernels were probed,
// whose driver says that nobody else has their memory, and only once nothing is
// left of what earlier worker processes started. Nothing in it waits. Not
// thread-safe.
class Offers {
 public:
  struct Options {
    std::vector<::ordo::workers::v1::Device> devices;
    // Null: nothing speaks for GPUs, and they are not watched.
    std::shared_ptr<Nvml> nvml;
    // Called from other threads when Step has something to do; must not call
    // back.
    std::function<void()> wake;
  };
  // `task` outlives it.
  Offers(const TaskOptions& task, Options options, const ProberTools& tools);

  // Ends all processes that a worker with this state folder has started, but
  // those of these task folders. Only before the first task and the first Step.
  void EndOrphans(const std::set<std::string>& known_tasks);

  struct Turn {
    // There is no attempt.
    bool idle = false;
    // Devices that attempts are on.
    std::set<std::string> held;
    // Nothing is to be offered any more.
    bool draining = false;
  };
  void Step(const Turn& turn);
  // A child of this process was reaped; true: it was a probe.
  bool OnExit(pid_t child, const base::ExitStatus& status) {
    return prober_.OnExit(child, status);
  }
  // Readable when the probe that runs has ended; -1: none runs.
  int file() const { return prober_.file(); }
  // Until Step has something to do.
  absl::Duration TimeLeft(bool draining) const;

  // What is to be announced.
  std::vector<::ordo::workers::v1::Device> Devices() const;
  // Grow with each change of it: of anything, and of what others wait for.
  int64_t sequence() const { return sequence_ + urgent_sequence(); }
  int64_t urgent_sequence() const;

  // UNAVAILABLE: one of them is withheld, and why.
  absl::Status CheckOffered(const std::vector<std::string>& devices) const;
  std::vector<std::string> WrongKernels(
      const std::vector<std::string>& devices) const {
    return prober_.plan().WrongKernels(devices);
  }
  // As GpuWatch::MemoryIsBack.
  bool MemoryIsBack(const std::vector<std::string>& devices,
                    absl::Duration since);

 private:
  void FindOrphans();
  void TendOrphans();
  void TendGpus(const std::set<std::string>& held);
  // What keeps a device from being offered and probed; empty: nothing.
  std::string Blocked(const std::string& device) const;

  const TaskOptions& task_;
  const Options options_;
  const base::Clock& clock_;
  WorkerMetrics& metrics_;
  Prober prober_;
  GpuWatch gpu_watch_;
  GpuLooker gpu_looker_;
  std::set<std::string> known_tasks_;
  // Being ended.
  std::vector<base::ProcessId> orphans_;
  int64_t orphans_sequence_ = 0;
  // Of changes that nobody waits for.
  int64_t sequence_ = 0;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_OFFERS_H_
