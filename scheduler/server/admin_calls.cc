#include "scheduler/server/admin_calls.h"

#include <utility>

namespace ordo::scheduler::server {

void AdminCalls::Add(uint64_t call, Callback done) {
  base::MutexLock lock(mutex_);
  calls_[call] = std::move(done);
}

void AdminCalls::Answer(const core::AnswerWorker& answer) {
  Callback done;
  {
    base::MutexLock lock(mutex_);
    const auto found = calls_.find(answer.call);
    if (found == calls_.end()) return;
    done = std::move(found->second);
    calls_.erase(found);
  }
  if (answer.worker.ok()) {
    done(**answer.worker);
  } else {
    done(answer.worker.status());
  }
}

void AdminCalls::RefuseAll(const absl::Status& status) {
  std::map<uint64_t, Callback> calls;
  {
    base::MutexLock lock(mutex_);
    calls.swap(calls_);
  }
  for (const auto& [call, done] : calls) done(status);
}

}  // namespace ordo::scheduler::server
