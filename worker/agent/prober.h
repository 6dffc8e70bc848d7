#ifndef ORDO_WORKER_AGENT_PROBER_H_
#define ORDO_WORKER_AGENT_PROBER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/process/process.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "worker/agent/metrics.h"
#include "worker/agent/probe_plan.h"
#include "worker/agent/task.h"

namespace ordo::worker::agent {

// What a prober reaches the world through. All outlive it.
struct ProberTools {
  base::Filesystem& files;
  const base::Clock& clock;
  WorkerMetrics& metrics;
};

// Runs `<trainer> probe` as a child process, one device after the other, and
// keeps the reports in the state folder. Nothing in it waits. Not thread-safe.
class Prober {
 public:
  // A probe that takes longer is killed.
  static constexpr absl::Duration kLimit = absl::Seconds(60);
  // How often an idle worker looks for another driver or trainer.
  static constexpr absl::Duration kKeyPeriod = absl::Minutes(1);

  // `options` outlive it.
  Prober(const TaskOptions& options,
         const std::vector<::ordo::workers::v1::Device>& devices,
         const ProberTools& tools);
  // Kills a probe that runs.
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // Starts what is due and kills what takes too long. `idle`: there is no
  // attempt, so devices may be withheld if their driver has changed. `held`:
  // devices that attempts are on, which are not probed meanwhile.
  void Step(bool idle, const std::set<std::string>& held);
  // A child of this process was reaped; true: it was the probe.
  bool OnExit(pid_t child, const base::ExitStatus& status);

  // Readable when the probe that runs has ended; -1: none runs.
  int file() const { return file_; }
  // Until Step has something to do.
  absl::Duration TimeLeft() const;

  const ProbePlan& plan() const { return plan_; }

 private:
  std::string PathOf(const std::string& device, const char* ending) const;
  void LookAtKeys();
  std::string KeyOf(const std::string& device);
  // A program's build id, computed again only if its file has changed.
  std::string BuildIdAt(const std::string& path);
  absl::Status Start(const std::string& device);
  absl::StatusOr<::ordo::training::v1::KernelProbe> ReadReport(
      const base::ExitStatus& status) const;
  void Take(const ::ordo::training::v1::KernelProbe& probe);
  // Logs and counts what is wrong on a device by a report that counts.
  void Tell(const std::string& device, const char* event,
            const ::ordo::training::v1::KernelProbe& probe);
  void Fail(const absl::Status& status);

  const TaskOptions& options_;
  const std::vector<::ordo::workers::v1::Device> devices_;
  base::Filesystem& files_;
  const base::Clock& clock_;
  WorkerMetrics& metrics_;
  ProbePlan plan_;
  absl::Duration next_keys_ = -absl::InfiniteDuration();
  // Keys are to be looked at as soon as the worker is idle.
  bool keys_due_ = false;
  // By path: the file's number, size and time of change, and its build id.
  struct Build {
    std::tuple<uint64_t, int64_t, int64_t> file;
    std::string id;
  };
  std::map<std::string, Build> builds_;
  // The probe that runs.
  std::string device_;
  base::ProcessId process_;
  int file_ = -1;
  absl::Duration deadline_ = absl::InfiniteDuration();
  bool killed_ = false;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_PROBER_H_
