#ifndef ORDO_WORKER_AGENT_MEASUREMENTS_H_
#define ORDO_WORKER_AGENT_MEASUREMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/agent/facts.h"
#include "worker/agent/metrics.h"

namespace ordo::worker::agent {

// "exit", "hang" ...: the label of a cause.
std::string CauseLabel(::ordo::agent::v1::ObservedAttempt::Cause cause);

// When an attempt was asked for, by both clocks.
struct AskedAt {
  absl::Time wall;
  absl::Duration monotonic;
};

// What one attempt adds to the metrics of its worker. Not thread-safe.
class Measurements {
 public:
  // `metrics` outlives this. Without `asked`, for an attempt that an earlier
  // process started, its start is not measured.
  Measurements(WorkerMetrics& metrics, std::vector<std::string> devices,
               std::optional<AskedAt> asked);

  void OnRecord(const ::ordo::training::v1::ProgressRecord& record);
  // `now` is monotonic: what wall clocks say of the start is believed as far as
  // there was time for it.
  void OnFacts(const SupervisorFacts& facts, absl::Duration now);
  void OnEnd(::ordo::agent::v1::ObservedAttempt::Cause cause);

 private:
  WorkerMetrics& metrics_;
  const std::vector<std::string> devices_;
  // Until the start is measured.
  std::optional<AskedAt> asked_;
  int64_t last_step_ = 0;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_MEASUREMENTS_H_
