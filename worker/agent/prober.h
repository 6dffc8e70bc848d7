#ifndef ORDO_WORKER_AGENT_PROBER_H_
#define ORDO_WORKER_AGENT_PROBER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/mutex.h"
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
  // Runs what may take its time, one after the other and on any thread, and
  // then has Step called. All that it was given has run before the prober ends.
  std::function<void(std::function<void()>)> background;
};

// Runs `<trainer> probe` as a child process, one device after the other, and
// keeps the reports in the state folder. Nothing in it waits: programs are
// hashed in the background. Not thread-safe.
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

  // The device that is being probed; empty: none.
  const std::string& running() const { return device_; }
  // Readable when the probe that runs has ended; -1: none runs.
  int file() const { return file_; }
  // Until Step has something to do.
  absl::Duration TimeLeft() const;

  const ProbePlan& plan() const { return plan_; }

 private:
  std::string PathOf(const std::string& device, const char* ending) const;
  // Has all keys found.
  void FindKeys();
  // Tells the plan those that were found. `may_withhold`: as Step's `idle`, or
  // nothing is offered yet.
  void TakeKeys(bool may_withhold);
  // In the background: what a device's report depends on.
  std::string KeyOf(const std::string& device);
  // In the background: a program's build id, computed again only if its file
  // has changed.
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
  const std::function<void(std::function<void()>)> background_;
  ProbePlan plan_;
  absl::Duration next_keys_ = -absl::InfiniteDuration();
  // Keys are to be looked at as soon as the worker is idle; are being found;
  // were told to the plan once.
  bool keys_due_ = false;
  bool finding_keys_ = false;
  bool has_keys_ = false;
  // By path: the file's number, size and time of change, and its build id. Of
  // the background.
  struct Build {
    std::tuple<uint64_t, int64_t, int64_t> file;
    std::string id;
  };
  std::map<std::string, Build> builds_;
  base::Mutex mutex_;
  // By device, once they are found.
  std::optional<std::map<std::string, std::string>> keys_
      ORDO_GUARDED_BY(mutex_);
  // The probe that runs.
  std::string device_;
  base::ProcessId process_;
  int file_ = -1;
  absl::Duration deadline_ = absl::InfiniteDuration();
  bool killed_ = false;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_PROBER_H_
