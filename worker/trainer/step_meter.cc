#include "worker/trainer/step_meter.h"

namespace ordo::worker::trainer {

using ordo::model::training::Cursors;
using ordo::model::training::StepResult;
using ordo::training::v1::StepDone;

void StepMeter::Start(const Cursors& cursors) {
  time_ = clock_.Monotonic();
  cursors_ = cursors;
}

std::optional<StepDone> StepMeter::Record(const StepResult& result,
                                          const Cursors& cursors) {
  const absl::Duration now = clock_.Monotonic();
  if (cursors.step % training_.log_every_steps() != 0 &&
      cursors.step != training_.steps() && reported_any_ &&
      now - time_ < kLongestSilence) {
    return std::nullopt;
  }
  const double seconds = absl::ToDoubleSeconds(now - time_);
  StepDone done;
  done.set_step(cursors.step);
  done.set_total_steps(training_.steps());
  done.set_loss(result.loss);
  done.set_learning_rate(result.learning_rate);
  done.set_gradient_norm(result.gradient_norm);
  done.set_tokens(cursors.tokens);
  if (seconds > 0 && cursors.step > cursors_.step) {
    if (reported_any_) {
      measured_seconds_ += seconds;
      measured_steps_ += cursors.step - cursors_.step;
    }
    done.set_tokens_per_second(
        static_cast<double>(cursors.tokens - cursors_.tokens) / seconds);
    done.set_step_seconds(seconds /
                          static_cast<double>(cursors.step - cursors_.step));
  }
  reported_any_ = true;
  time_ = now;
  cursors_ = cursors;
  return done;
}

double StepMeter::MeanStepSeconds() const {
  if (measured_steps_ == 0) return 0;
  return measured_seconds_ / static_cast<double>(measured_steps_);
}

}  // namespace ordo::worker::trainer
