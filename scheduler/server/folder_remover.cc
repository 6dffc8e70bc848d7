#include "scheduler/server/folder_remover.h"

#include <utility>

namespace ordo::scheduler::server {

FolderRemover::FolderRemover(base::Filesystem& files, std::string root,
                             std::function<void(const absl::Status&)> on_error)
    : files_(files),
      root_(std::move(root)),
      on_error_(std::move(on_error)),
      thread_([this] { Run(); }) {}

FolderRemover::~FolderRemover() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void FolderRemover::Remove(std::string path) {
  base::MutexLock lock(mutex_);
  queue_.push_back(std::move(path));
  changed_.NotifyAll();
}

void FolderRemover::Sweep(NextPaths next) {
  base::MutexLock lock(mutex_);
  next_ = std::move(next);
  changed_.NotifyAll();
}

void FolderRemover::Wait() {
  base::MutexLock lock(mutex_);
  while (busy_ || !queue_.empty() || next_ != nullptr) changed_.Wait(mutex_);
}

void FolderRemover::Run() {
  while (true) {
    std::string path;
    NextPaths next;
    {
      base::MutexLock lock(mutex_);
      busy_ = false;
      changed_.NotifyAll();
      while (queue_.empty() && next_ == nullptr && !stopping_) {
        changed_.Wait(mutex_);
      }
      if (stopping_) return;
      busy_ = true;
      if (queue_.empty()) {
        next = next_;
      } else {
        path = std::move(queue_.front());
        queue_.pop_front();
      }
    }
    if (next != nullptr) {
      std::optional<std::vector<std::string>> paths = next();
      base::MutexLock lock(mutex_);
      if (!paths.has_value()) {
        next_ = nullptr;
        continue;
      }
      for (std::string& each : *paths) queue_.push_back(std::move(each));
    } else if (const absl::Status status = files_.RemoveUnder(root_, path);
               !status.ok()) {
      on_error_(status);
    }
  }
}

}  // namespace ordo::scheduler::server
