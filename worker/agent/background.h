#ifndef ORDO_WORKER_AGENT_BACKGROUND_H_
#define ORDO_WORKER_AGENT_BACKGROUND_H_

#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.h"

namespace ordo::worker::agent {

// Runs what may wait for a disk on a thread of its own, one after the other, so
// that nothing else waits with it. Thread-safe.
class Background {
 public:
  Background();
  // Returns when all that was given has run.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void Run(std::function<void()> work);

 private:
  void Loop();

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> queue_ ORDO_GUARDED_BY(mutex_);
  bool ending_ ORDO_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_BACKGROUND_H_
