#ifndef ORDO_WORKER_AGENT_MEASUREMENTS_H_
#define ORDO_WORKER_AGENT_MEASUREMENTS_H_

#include <cstdint>
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

// What one attempt adds to the metrics of its worker. Not thread-safe.
class Measurements {
 public:
  // `metrics` outlives this. `asked`: when the attempt was asked for; infinite
  // past for one that an earlier process started, whose start is not measured.
  Measurements(WorkerMetrics& metrics, std::vector<std::string> devices,
               absl::Time asked);

  void OnRecord(const ::ordo::training::v1::ProgressRecord& record);
  void OnFacts(const SupervisorFacts& facts);
  void OnEnd(::ordo::agent::v1::ObservedAttempt::Cause cause);

 private:
  WorkerMetrics& metrics_;
  const std::vector<std::string> devices_;
  const absl::Time asked_;
  bool start_measured_;
  int64_t last_step_ = 0;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_MEASUREMENTS_H_
