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

// What one attempt adds to the metrics of its worker. What it has once, however
// many devices it holds, counts for the first of them. Not thread-safe.
class Measurements {
 public:
  // `metrics` outlives this. Without `asked`, for an attempt that an earlier
  // process started, its start is not measured, and what it did is shown, but
  // not counted again, until BeginToCount.
  Measurements(WorkerMetrics& metrics, std::vector<std::string> devices,
               std::optional<AskedAt> asked);

  // What an earlier process has seen of it has been told.
  void BeginToCount() { counts_ = true; }
  void OnRecord(const ::ordo::training::v1::ProgressRecord& record);
  // `now` is monotonic: what wall clocks say of the start is believed as far as
  // there was time for it.
  void OnFacts(const SupervisorFacts& facts, absl::Duration now);
  // Looks what its trainer's process uses, while it runs.
  void Look();
  void OnEnd(::ordo::agent::v1::ObservedAttempt::Cause cause);

 private:
  void CountTokens(int64_t tokens);

  WorkerMetrics& metrics_;
  const std::vector<std::string> devices_;
  // Until the start is measured.
  std::optional<AskedAt> asked_;
  bool counts_;
  int64_t last_step_ = 0;
  // Nothing: the next record tells of tokens that an earlier attempt saw.
  std::optional<int64_t> last_tokens_ = 0;
  // 0: it does not run.
  int32_t trainer_pid_ = 0;
  // Nothing: what it has used until the next look, an earlier process counted.
  std::optional<double> last_cpu_s_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_MEASUREMENTS_H_
