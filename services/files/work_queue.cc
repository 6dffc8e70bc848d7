#include "services/files/work_queue.h"

#include "absl/strings/str_cat.h"

namespace ordo::services::files {

WorkQueue::WorkQueue(int num_threads, int64_t max_calls,
                     std::chrono::milliseconds slow_limit)
    : max_calls_(max_calls),
      slow_limit_(slow_limit),
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

WorkQueue::Later WorkQueue::RunAfter(std::chrono::milliseconds delay,
                                     std::function<void()> work) {
  Later later(std::chrono::steady_clock::now() + delay, 0);
  {
    base::MutexLock lock(mutex_);
    later.second = ++last_number_;
    queue_.emplace(later, std::move(work));
  }
  changed_.NotifyOne();
  return later;
}

void WorkQueue::Drop(const Later& later) {
  // Destroyed without the lock, as when it has run.
  std::function<void()> work;
  base::MutexLock lock(mutex_);
  const auto found = queue_.find(later);
  if (found == queue_.end()) return;
  work = std::move(found->second);
  queue_.erase(found);
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
