#ifndef ORDO_SCHEDULER_SERVER_ADMIN_CALLS_H_
#define ORDO_SCHEDULER_SERVER_ADMIN_CALLS_H_

#include <cstdint>
#include <map>
#include <variant>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "scheduler/core/effect.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler::server {

// Those who changed a queue, a worker or a token and wait for the answer.
// Callbacks run on the caller's thread, without a lock. Thread-safe.
class AdminCalls {
 public:
  using Callback =
      std::variant<Scheduler::QueueCallback, Scheduler::WorkerCallback,
                   Scheduler::TokenCallback>;

  // `call` is unique.
  void Add(uint64_t call, Callback done);
  // Those that wait.
  int64_t size() const;
  // Answers the call, unless it has been refused.
  void Answer(const core::AnswerQueue& answer);
  void Answer(const core::AnswerWorker& answer);
  void Answer(const core::AnswerRow& answer);
  // Refuses all calls that are not answered yet.
  void RefuseAll(const absl::Status& status);

  // For one that was never added.
  static void Refuse(const Callback& done, const absl::Status& status);

 private:
  // Nothing to call when there is no such call any more.
  Callback Take(uint64_t call);

  mutable base::Mutex mutex_;
  std::map<uint64_t, Callback> calls_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_ADMIN_CALLS_H_
