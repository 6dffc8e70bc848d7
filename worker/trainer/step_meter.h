#ifndef ORDO_WORKER_TRAINER_STEP_METER_H_
#define ORDO_WORKER_TRAINER_STEP_METER_H_

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "model/training/run.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::worker::trainer {

// Decides which steps are reported, and measures the speed between them: those
// at multiples of log_every_steps, the first after Start, the last, and any
// that comes kLongestSilence after the one reported before. Not thread-safe.
class StepMeter {
 public:
  // So that somebody who watches slow steps sees them move.
  static constexpr absl::Duration kLongestSilence = absl::Seconds(2);

  // `clock` outlives the meter.
  StepMeter(base::Clock& clock, const ordo::training::v1::Training& training)
      : clock_(clock), training_(training) {}

  // Begins to measure at these cursors: at the start, and after anything else
  // than training took time.
  void Start(const ordo::model::training::Cursors& cursors);

  // What to report after a step, if it is to be reported.
  std::optional<ordo::training::v1::StepDone> Record(
      const ordo::model::training::StepResult& result,
      const ordo::model::training::Cursors& cursors);

  // Mean seconds of the steps that were measured, without those up to the first
  // report, which make all ready; 0: there were none.
  double MeanStepSeconds() const;

 private:
  base::Clock& clock_;
  const ordo::training::v1::Training training_;
  absl::Duration time_;
  ordo::model::training::Cursors cursors_;
  bool reported_any_ = false;
  // Of what MeanStepSeconds tells.
  double measured_seconds_ = 0;
  int64_t measured_steps_ = 0;
};

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_STEP_METER_H_
