#include "worker/agent/background.h"

#include <utility>

namespace ordo::worker::agent {

Background::Background() : thread_([this] { Loop(); }) {}

Background::~Background() {
  {
    base::MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void Background::Run(std::function<void()> work) {
  base::MutexLock lock(mutex_);
  queue_.push_back(std::move(work));
  changed_.NotifyAll();
}

void Background::Loop() {
  while (true) {
    std::function<void()> work;
    {
      base::MutexLock lock(mutex_);
      while (queue_.empty() && !ending_) changed_.Wait(mutex_);
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace ordo::worker::agent
