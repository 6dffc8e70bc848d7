#include "services/files/work_queue.h"

namespace ordo::services::files {

WorkQueue::WorkQueue(int num_threads) {
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
