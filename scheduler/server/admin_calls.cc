#include "scheduler/server/admin_calls.h"

#include <utility>

namespace ordo::scheduler::server {

void AdminCalls::Add(uint64_t call, Callback done) {
  base::MutexLock lock(mutex_);
  calls_[call] = std::move(done);
}

int64_t AdminCalls::size() const {
  base::MutexLock lock(mutex_);
  return static_cast<int64_t>(calls_.size());
}

AdminCalls::Callback AdminCalls::Take(uint64_t call) {
  base::MutexLock lock(mutex_);
  const auto found = calls_.find(call);
  if (found == calls_.end()) return Callback();
  Callback done = std::move(found->second);
  calls_.erase(found);
  return done;
}

void AdminCalls::Answer(const core::AnswerQueue& answer) {
  const Callback taken = Take(answer.call);
  const auto* done = std::get_if<Scheduler::QueueCallback>(&taken);
  if (done == nullptr || *done == nullptr) return;
  if (answer.queue.ok()) {
    (*done)(**answer.queue);
  } else {
    (*done)(answer.queue.status());
  }
}

void AdminCalls::Answer(const core::AnswerWorker& answer) {
  const Callback taken = Take(answer.call);
  const auto* done = std::get_if<Scheduler::WorkerCallback>(&taken);
  if (done == nullptr || *done == nullptr) return;
  if (answer.worker.ok()) {
    (*done)(**answer.worker);
  } else {
    (*done)(answer.worker.status());
  }
}

void AdminCalls::Answer(const core::AnswerRow& answer) {
  const Callback taken = Take(answer.call);
  const auto* done = std::get_if<Scheduler::TokenCallback>(&taken);
  if (done != nullptr && *done != nullptr) (*done)(absl::OkStatus());
}

void AdminCalls::RefuseAll(const absl::Status& status) {
  std::map<uint64_t, Callback> calls;
  {
    base::MutexLock lock(mutex_);
    calls.swap(calls_);
  }
  for (const auto& [call, done] : calls) Refuse(done, status);
}

void AdminCalls::Refuse(const Callback& done, const absl::Status& status) {
  std::visit([&status](const auto& callback) { callback(status); }, done);
}

}  // namespace ordo::scheduler::server
