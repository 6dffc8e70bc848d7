#ifndef ORDO_WORKER_AGENT_ANNOUNCE_SCHEDULE_H_
#define ORDO_WORKER_AGENT_ANNOUNCE_SCHEDULE_H_

#include <string>

#include "absl/time/time.h"

namespace ordo::worker::agent {

// What there is to announce, the most pressing last.
enum class News {
  kNone,
  // Mere step counts.
  kSteps,
  // That a trainer has begun. The times of it are in the news itself.
  kStarts,
  // Anything that others wait for.
  kUrgent,
};

// When the next announcement is due: at once for urgent news; for starts at
// once too, unless another went a moment ago, so that a busy worker tells the
// start and the end of a short task together; soon for steps, else once a
// period; later and later while the scheduler does not answer, and seldom while
// it refuses this worker for what it is.
// Pure; times are monotonic. Not thread-safe.
class AnnounceSchedule {
 public:
  // Steps alone are announced at most this often.
  static constexpr absl::Duration kStepPeriod = absl::Milliseconds(100);
  // As are starts.
  static constexpr absl::Duration kStartPeriod = absl::Milliseconds(10);
  // Until the scheduler has said how often it wants to hear.
  static constexpr absl::Duration kDefaultPeriod = absl::Seconds(1);

  // After a refusal that only an upgrade can end.
  static constexpr absl::Duration kRefusedPeriod = absl::Seconds(30);

  // `worker` spreads the retries of workers that failed together.
  explicit AnnounceSchedule(std::string worker);

  // Until the next announcement; infinite while one is under way, not positive
  // when it is due.
  absl::Duration TimeLeft(absl::Duration now, News news) const;

  void Sent(absl::Duration now);
  // `period` is taken over if it is positive.
  void Answered(absl::Duration period);
  void Failed(absl::Duration now);
  void Refused(absl::Duration now);

  // Failures since the last answer.
  int num_failures() const { return num_failures_; }

 private:
  const std::string worker_;
  absl::Duration last_sent_ = -absl::InfiniteDuration();
  absl::Duration period_ = kDefaultPeriod;
  absl::Duration retry_at_ = -absl::InfiniteDuration();
  int num_failures_ = 0;
  bool under_way_ = false;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_ANNOUNCE_SCHEDULE_H_
