#ifndef ORDO_MODEL_BENCHMARK_PULSE_H_
#define ORDO_MODEL_BENCHMARK_PULSE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "model/benchmark/attention_benchmark.h"

namespace ordo::model::benchmark {

// Between the runs: tells how far it is, and ends it all when asked to.
class Pulse {
 public:
  Pulse(const AttentionOptions& options, size_t num_total)
      : options_(options), num_total_(static_cast<int64_t>(num_total)) {
    Tell();
  }

  // CANCELLED if it is to stop.
  absl::Status AfterRun(double seconds) {
    silent_s_ += seconds;
    if (silent_s_ > options_.seconds_of_silence) Tell();
    if (!options_.should_stop()) return absl::OkStatus();
    return absl::CancelledError("the benchmark was stopped on request");
  }

  void ShapeIsDone() {
    ++num_done_;
    Tell();
  }

 private:
  void Tell() {
    silent_s_ = 0;
    options_.on_shape(num_done_, num_total_);
  }

  const AttentionOptions& options_;
  const int64_t num_total_;
  int64_t num_done_ = 0;
  double silent_s_ = 0;
};

}  // namespace ordo::model::benchmark

#endif  // ORDO_MODEL_BENCHMARK_PULSE_H_
