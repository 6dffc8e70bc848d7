#ifndef ORDO_WORKER_AGENT_DRAIN_H_
#define ORDO_WORKER_AGENT_DRAIN_H_

#include "absl/time/time.h"

namespace ordo::worker::agent {

// When a worker that drains may leave. Times are monotonic. Not thread-safe.
class Drain {
 public:
  // A worker on which nothing runs waits this long for a scheduler that does
  // not acknowledge.
  static constexpr absl::Duration kAnswerTimeout = absl::Seconds(5);
  // Beyond the grace, for supervisors to end what is left.
  static constexpr absl::Duration kMargin = absl::Seconds(15);

  // `grace` is that of what runs. Only the first call counts.
  void Begin(absl::Duration now, absl::Duration grace);
  bool began() const { return began_; }

  struct Worker {
    // Nothing runs; and what ended is acknowledged and reaped, and the
    // scheduler knows of the drain.
    bool idle = false;
    bool done = false;
  };
  // True when the worker may leave; says in the log what it leaves behind.
  bool IsOver(absl::Duration now, const Worker& worker);

 private:
  bool began_ = false;
  absl::Duration deadline_;
  absl::Duration idle_since_ = absl::InfiniteDuration();
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_DRAIN_H_
