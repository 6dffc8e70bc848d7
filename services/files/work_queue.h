#ifndef ORDO_SERVICES_FILES_WORK_QUEUE_H_
#define ORDO_SERVICES_FILES_WORK_QUEUE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/mutex.h"

namespace ordo::services::files {

// A call that counts until the last copy is gone.
using WorkPlace = std::shared_ptr<const void>;

// A few threads that read files for calls, so that neither gRPC's threads nor
// the scheduler's wait for a disk. Thread-safe.
//
// Whoever queues work has been admitted before: a stream by limits::Limits,
// which bounds their number, any other call by Admit. What has begun queues its
// next piece without being asked, so newcomers cut nobody off; and with at most
// one piece of each in it, the queue is bounded.
class WorkQueue {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  // Work that is queued: when it is due, and its number.
  using Later = std::pair<TimePoint, int64_t>;

  // How long a client may take for one message of a stream.
  static constexpr std::chrono::milliseconds kSlowLimit =
      std::chrono::minutes(5);

  // `num_threads` is at least 1.
  explicit WorkQueue(int num_threads, int64_t max_calls = kMaxCalls,
                     std::chrono::milliseconds slow_limit = kSlowLimit);
  // Runs what is due, drops what is not, and joins the threads.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // A place for a call; kept until it is answered, it may outlive the queue.
  // RESOURCE_EXHAUSTED: max_calls are not answered yet.
  absl::StatusOr<WorkPlace> Admit();

  // Runs `work` soon, or after `delay`. Work that is due at the same time runs
  // in the order of the calls.
  void Run(std::function<void()> work);
  Later RunAfter(std::chrono::milliseconds delay, std::function<void()> work);
  // Forgets work that has not begun; nothing when it has.
  void Drop(const Later& later);

  // Tells streams, which queue work again and again, to end soon.
  void EndStreams() { streams_end_ = true; }
  bool streams_end() const { return streams_end_; }

  // A stream that waits longer for its client is cut off (SlowReader).
  std::chrono::milliseconds slow_limit() const { return slow_limit_; }

  static constexpr int64_t kMaxCalls = 1024;

 private:
  void RunThread();

  const int64_t max_calls_;
  const std::chrono::milliseconds slow_limit_;
  // Places that are taken; each of these holds it too.
  const std::shared_ptr<std::atomic<int64_t>> num_calls_;
  std::atomic<bool> streams_end_{false};
  base::Mutex mutex_;
  base::CondVar changed_;
  bool stopping_ ORDO_GUARDED_BY(mutex_) = false;
  int64_t last_number_ ORDO_GUARDED_BY(mutex_) = 0;
  // By time, then number, which keeps the order of equal times.
  std::map<Later, std::function<void()>> queue_ ORDO_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace ordo::services::files

#endif  // ORDO_SERVICES_FILES_WORK_QUEUE_H_
