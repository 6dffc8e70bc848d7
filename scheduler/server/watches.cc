#include "scheduler/server/watches.h"

namespace ordo::scheduler::server {

int64_t Watches::Add(const std::string& job,
                     Scheduler::WatchCallback callback) {
  base::MutexLock lock(mutex_);
  const int64_t watch = next_++;
  watches_[watch] = {job, std::move(callback)};
  by_job_[job].insert(watch);
  unshown_.insert(watch);
  return watch;
}

bool Watches::AskToShow() {
  base::MutexLock lock(mutex_);
  return !std::exchange(asked_to_show_, true);
}

std::vector<std::pair<int64_t, std::string>> Watches::TakeUnshown() {
  base::MutexLock lock(mutex_);
  asked_to_show_ = false;
  std::vector<std::pair<int64_t, std::string>> unshown;
  for (const int64_t watch : std::exchange(unshown_, {})) {
    unshown.emplace_back(watch, watches_.at(watch).job);
  }
  return unshown;
}

void Watches::Stop(int64_t watch) {
  base::MutexLock lock(mutex_);
  if (const auto it = watches_.find(watch); it != watches_.end()) {
    const auto jobs = by_job_.find(it->second.job);
    jobs->second.erase(watch);
    if (jobs->second.empty()) by_job_.erase(jobs);
    watches_.erase(it);
    unshown_.erase(watch);
  }
  while (running_ == watch && running_on_ != std::this_thread::get_id()) {
    callback_done_.Wait(mutex_);
  }
}

bool Watches::IsWatched(const std::string& job) const {
  base::MutexLock lock(mutex_);
  return by_job_.count(job) > 0;
}

std::set<std::string> Watches::WatchedJobs() const {
  base::MutexLock lock(mutex_);
  std::set<std::string> jobs;
  for (const auto& [job, watches] : by_job_) jobs.insert(job);
  return jobs;
}

void Watches::Tell(const jobs::v1::Job& job, bool last) {
  std::vector<int64_t> watches;
  {
    base::MutexLock lock(mutex_);
    const auto it = by_job_.find(job.spec().name());
    if (it == by_job_.end()) return;
    watches.assign(it->second.begin(), it->second.end());
  }
  for (const int64_t watch : watches) TellOne(watch, job, last);
}

void Watches::TellOne(int64_t watch, const jobs::v1::Job& job, bool last) {
  Scheduler::WatchCallback callback;
  {
    base::MutexLock lock(mutex_);
    const auto it = watches_.find(watch);
    if (it == watches_.end()) return;
    callback = it->second.callback;
    running_ = watch;
    running_on_ = std::this_thread::get_id();
  }
  callback(job, last);
  // What the callback holds must not outlive Stop either.
  callback = nullptr;
  {
    base::MutexLock lock(mutex_);
    running_ = 0;
    callback_done_.NotifyAll();
  }
  if (last) Stop(watch);
}

}  // namespace ordo::scheduler::server
