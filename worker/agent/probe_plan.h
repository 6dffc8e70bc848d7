#ifndef ORDO_WORKER_AGENT_PROBE_PLAN_H_
#define ORDO_WORKER_AGENT_PROBE_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"

// Which device's kernels to probe when, and what is announced of devices until
// then and after it. Pure; times are monotonic.

namespace ordo::worker::agent {

// Whether a report says of each kernel what it does. One whose process gave no
// answer may only have had no time or memory, beside others.
bool IsWhole(const ::ordo::training::v1::KernelProbe& probe);

// A device is offered once a probe with its present key has given a report,
// whatever that says of single kernels. Until then it is withheld, with the
// reason; a probe without a report, or whose report is not whole, is made
// again. None begins beside an attempt. Not thread-safe.
class ProbePlan {
 public:
  static constexpr absl::Duration kRetryPeriod = absl::Seconds(30);
  // After a report that is not whole.
  static constexpr absl::Duration kAgainPeriod = absl::Minutes(10);

  explicit ProbePlan(const std::vector<::ordo::workers::v1::Device>& devices);

  // What a device's report depends on now, and one of an earlier process, which
  // counts if its key is the same. Another key than before: the device is
  // withheld and probed again. True: the earlier report counts from now on.
  bool OnKey(const std::string& device, const std::string& key,
             const ::ordo::agent::v1::StoredProbe& stored);

  // The devices that attempts are on. Call it before Next and TimeLeft.
  void OnHeld(const std::set<std::string>& devices);

  // The device to probe now; none while a probe runs.
  std::optional<std::string> Next(absl::Duration now) const;
  // Until Next may give one; infinite: only an event can.
  absl::Duration TimeLeft(absl::Duration now) const;

  void OnStarted(const std::string& device);
  // The probe that runs has ended. A processor's report counts for all of them.
  // False: the report does not count, as the key
  // has changed meanwhile, or as no kernel gave an answer, which withholds the
  // device until another does.
  bool OnReport(const ::ordo::training::v1::KernelProbe& probe,
                absl::Duration now);
  void OnFailure(const std::string& error, absl::Duration now);

  // What is to be announced; grows with each change of it.
  std::vector<::ordo::workers::v1::Device> Devices() const;
  int64_t sequence() const { return sequence_; }

  // Of a device that has a report.
  ::ordo::agent::v1::StoredProbe ToStore(const std::string& device) const;
  // UNAVAILABLE: one of them is withheld, and why.
  absl::Status CheckOffered(const std::vector<std::string>& devices) const;
  // Kernels that are wrong on any of the devices, without repetition.
  std::vector<std::string> WrongKernels(
      const std::vector<std::string>& devices) const;

 private:
  struct Entry {
    ::ordo::workers::v1::Device device;
    std::string key;
    // When to probe it; infinite while it need not be.
    absl::Duration due = absl::InfiniteDuration();
    // An attempt is on it.
    bool held = false;
  };

  void Withhold(Entry& entry, const std::string& reason);

  std::map<std::string, Entry> entries_;
  // Whose probe runs; empty: none.
  std::string running_;
  int64_t sequence_ = 0;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_PROBE_PLAN_H_
