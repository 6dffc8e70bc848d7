#ifndef ORDO_WORKER_AGENT_GPU_WATCH_H_
#define ORDO_WORKER_AGENT_GPU_WATCH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "worker/agent/gpus.h"

// Which GPUs are withheld because of what their driver says, and whether an
// attempt has given back the memory that it had. Pure; times are monotonic.

namespace ordo::worker::agent {

// What a driver said at one time.
struct GpuLook {
  // By UUID.
  std::map<std::string, absl::StatusOr<GpuUse>> uses;
  std::vector<GpuFault> faults;
};

// A GPU is offered only while nobody has memory of it but attempts and probes
// of this worker. It cannot tell whose a process is that the driver names, as
// that may be in another PID namespace; so it judges a GPU only by looks that
// began when none of ours was on it. Not thread-safe.
class GpuWatch {
 public:
  // Between looks while nothing happens.
  static constexpr absl::Duration kPeriod = absl::Seconds(5);
  // A driver that takes longer does not answer.
  static constexpr absl::Duration kAnswerLimit = absl::Seconds(15);
  // Memory that is not back after this is no reason to keep an attempt from
  // ending; its GPU is withheld.
  static constexpr absl::Duration kReturnLimit = absl::Seconds(10);
  // Used by nobody whom the driver names, and no reason to withhold.
  static constexpr int64_t kUnnamedBytes = int64_t{256} << 20;
  // Remembered of a GPU.
  static constexpr int kMaxFaults = 16;

  // Watches those of `devices` that have a UUID.
  explicit GpuWatch(const std::vector<::ordo::workers::v1::Device>& devices);

  // Time has passed; `held`: the devices that attempts and probes are on now.
  void OnTurn(const std::set<std::string>& held, absl::Duration now);

  // Whether to look now; at most one look is under way.
  bool IsDue(absl::Duration now) const;
  // Until IsDue or something else here changes; infinite without GPUs.
  absl::Duration TimeLeft(absl::Duration now) const;
  void OnLookBegins(absl::Duration now);
  // `time`: when faults that came with it were heard of.
  void OnLook(const GpuLook& look, absl::Duration now, absl::Time time);

  // Has a look begin at once, if one that began at `since` or later is not
  // there; true when such a one found nobody's memory on any of the devices, or
  // too much time has passed. Devices without a UUID are always back.
  bool MemoryIsBack(const std::vector<std::string>& devices,
                    absl::Duration since, absl::Duration now);

  // What keeps a device from being offered; empty: nothing.
  std::string Withheld(const std::string& device) const;
  // Grows with each change of what is withheld, and with each fault.
  int64_t sequence() const { return sequence_; }
  // Puts in what is known: free memory, faults, the reason to withhold.
  void Complete(::ordo::workers::v1::Device* device) const;

 private:
  struct Entry {
    std::string uuid;
    bool held = false;
    // None of ours has been on it since.
    absl::Duration free_since = -absl::InfiniteDuration();
    // Whose memory the newest look found; empty: nobody's.
    std::string in_use;
    // Of the newest look that can be judged by; or why there is none.
    std::string withheld = "its driver has not been asked about it yet";
    int64_t free_bytes = 0;
    std::vector<::ordo::workers::v1::DeviceFault> faults;
  };

  void TakeUse(const absl::StatusOr<GpuUse>& use, Entry& entry);
  void TakeFault(const GpuFault& fault, absl::Time time);
  void Withhold(Entry& entry, const std::string& reason);

  std::map<std::string, Entry> entries_;
  bool looking_ = false;
  bool overdue_ = false;
  // Of the newest look; of the newest that has ended.
  absl::Duration began_ = -absl::InfiniteDuration();
  absl::Duration seen_ = -absl::InfiniteDuration();
  absl::Duration next_ = -absl::InfiniteDuration();
  int64_t sequence_ = 0;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_GPU_WATCH_H_
