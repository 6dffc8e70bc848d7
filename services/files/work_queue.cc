#include "services/files/work_queue.h"

#include "absl/strings/str_cat.h"

namespace ordo::services::files {

WorkQueue::WorkQueue(int num_threads, int64_t max_calls)
    : max_calls_(max_calls),
      num_calls_(std::make_shared<std::atomic<int64_t>>(0)) {
  for (int i = 0; i < num_threads; ++i) {
    threads_.emplace_back([this] { RunThread(); });
  }
}

WorkQueue::~WorkQueue() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

absl::StatusOr<WorkPlace> WorkQueue::Admit() {
  if (num_calls_->fetch_add(1) >= max_calls_) {
    --*num_calls_;
    return absl::ResourceExhaustedError(absl::StrCat(
        max_calls_,
        " calls wait for threads that read and write files, as many as may "
        "(limit file_calls); when some have been answered, try again"));
  }
  return WorkPlace(num_calls_.get(),
                   [taken = num_calls_](const void*) { --*taken; });
}

void WorkQueue::Run(std::function<void()> work) {
  RunAfter(std::chrono::milliseconds(0), std::move(work));
}

void WorkQueue::RunAfter(std::chrono::milliseconds delay,
                         std::function<void()> work) {
  const TimePoint due = std::chrono::steady_clock::now() + delay;
  {
    base::MutexLock lock(mutex_);
    queue_.emplace(std::make_pair(due, ++last_number_), std::move(work));
  }
  changed_.NotifyOne();
}

void WorkQueue::RunThread() {
  mutex_.Lock();
  while (true) {
    if (!queue_.empty() &&
        queue_.begin()->first.first <= std::chrono::steady_clock::now()) {
      std::function<void()> work = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      mutex_.Unlock();
      work();
      // Destroyed without the lock: it may own what queues more work.
      work = nullptr;
      mutex_.Lock();
    } else if (stopping_) {
      break;
    } else if (queue_.empty()) {
      changed_.Wait(mutex_);
    } else {
      changed_.WaitUntil(mutex_, queue_.begin()->first.first);
    }
  }
  mutex_.Unlock();
}

}  // namespace ordo::services::files
