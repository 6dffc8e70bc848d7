#ifndef ORDO_SERVICES_FILES_WORK_QUEUE_H_
#define ORDO_SERVICES_FILES_WORK_QUEUE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace ordo::services::files {

// A few threads that read files for streams, so that neither gRPC's threads nor
// the scheduler's wait for a disk. Thread-safe.
class WorkQueue {
 public:
  // `num_threads` is at least 1.
  explicit WorkQueue(int num_threads);
  // Runs what is due, drops what is not, and joins the threads.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Runs `work` soon, or after `delay`. Work that is due at the same time runs
  // in the order of the calls.
  void Run(std::function<void()> work);
  void RunAfter(std::chrono::milliseconds delay, std::function<void()> work);

  // Tells streams, which queue work again and again, to end soon.
  void EndStreams() { streams_end_ = true; }
  bool streams_end() const { return streams_end_; }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  void RunThread();

  std::atomic<bool> streams_end_{false};
  base::Mutex mutex_;
  base::CondVar changed_;
  bool stopping_ ORDO_GUARDED_BY(mutex_) = false;
  int64_t last_number_ ORDO_GUARDED_BY(mutex_) = 0;
  // By time, then number, which keeps the order of equal times.
  std::map<std::pair<TimePoint, int64_t>, std::function<void()>> queue_
      ORDO_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace ordo::services::files

#endif  // ORDO_SERVICES_FILES_WORK_QUEUE_H_
