#ifndef ORDO_SCHEDULER_SERVER_WRITER_H_
#define ORDO_SCHEDULER_SERVER_WRITER_H_

#include <cstddef>
#include <functional>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/mutex.h"
#include "scheduler/core/effect.h"
#include "scheduler/server/backlog.h"
#include "scheduler/store/store.h"

namespace ordo::scheduler::server {

struct WriterOptions {
  // Not owned; outlives the writer, which alone uses it.
  store::Store* store = nullptr;
  // Called on the writer's thread, once the records of all of `turns` are
  // durable, with the effects of each Apply in order, or of many Applies merged
  // (backlog.h).
  std::function<void(std::vector<core::Effects> turns)> release;
  // Called instead when they could not be made durable; must not return to
  // business: what the core believes and what is stored differ from here on.
  std::function<void(const absl::Status&)> on_failure;
  // Called when a commit finds no room, and again when that one is durable at
  // last; may be empty. In between it is tried again, and tasks run at once.
  std::function<void(const absl::Status&)> on_full;
  std::function<void()> on_room;
  absl::Duration full_retry = absl::Milliseconds(500);
  // Measures the transactions. Not owned; outlives the writer.
  const base::Clock* clock = nullptr;
  // Told the number of records and the time of each transaction; may be empty.
  std::function<void(size_t, absl::Duration)> on_commit;
};

// The commit queue and the one thread behind it. Everything that is queued when
// the thread comes back from a transaction goes into the next one; much of it,
// for want of time or of room, is merged (backlog.h). Thread-safe.
class Writer {
 public:
  explicit Writer(WriterOptions options);
  // Drains.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Appends the effects of one Apply. The order of the calls is the order of
  // the releases: call it under the lock that orders the Applies.
  void Append(core::Effects effects);
  // Runs `task` on the writer's thread after everything appended before, or
  // while that finds no room.
  void AppendTask(std::function<void()> task);
  // Returns when everything appended before is released, with the thread gone;
  // what finds no room is dropped then, unreleased. Nothing may be appended any
  // more.
  void Drain();

 private:
  using Item = std::variant<Backlog, std::function<void()>>;

  void Run();
  // What was queued; waits for it, but not long while there is no room.
  std::vector<Item> Take();
  // Adds what is queued to `turns_`, and runs tasks where they are due. False
  // when the thread has to end.
  bool Handle(std::vector<Item> items);
  // Commits and releases `turns_`, or leaves them there for lack of room. False
  // after any other error.
  bool CommitAndRelease();
  bool IsStopping();

  const WriterOptions options_;
  // Of the thread: what is to be committed next, and that there was no room for
  // it.
  Backlog turns_;
  bool full_ = false;

  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<Item> queue_ ORDO_GUARDED_BY(mutex_);
  bool stopping_ ORDO_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// The last record of each key, in the order in which the keys first came.
std::vector<core::Record> LastOfEachKey(
    const std::vector<core::Effects>& turns);

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_WRITER_H_
