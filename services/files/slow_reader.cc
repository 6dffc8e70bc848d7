#include "services/files/slow_reader.h"

#include "base/log/log.h"
#include "base/mutex.h"
#include "base/rpc/call.h"

namespace ordo::services::files {

struct SlowReader::State {
  explicit State(WorkQueue& work_queue) : queue(work_queue) {}

  WorkQueue& queue;
  base::Mutex mutex;
  // Null when the stream is over.
  grpc::CallbackServerContext* call ORDO_GUARDED_BY(mutex) = nullptr;
  int64_t num_writes ORDO_GUARDED_BY(mutex) = 0;
  bool writing ORDO_GUARDED_BY(mutex) = false;
  WorkQueue::Later look ORDO_GUARDED_BY(mutex);
};

SlowReader::SlowReader(WorkQueue& queue, grpc::CallbackServerContext* call)
    : state_(std::make_shared<State>(queue)) {
  if (call == nullptr) return;
  base::MutexLock lock(state_->mutex);
  state_->call = call;
  state_->look =
      queue.RunAfter(queue.slow_limit(), [state = state_] { Look(state, 0); });
}

SlowReader::~SlowReader() { End(); }

void SlowReader::End() {
  base::MutexLock lock(state_->mutex);
  if (state_->call == nullptr) return;
  state_->call = nullptr;
  state_->queue.Drop(state_->look);
}

void SlowReader::BeginWrite() {
  base::MutexLock lock(state_->mutex);
  ++state_->num_writes;
  state_->writing = true;
}

void SlowReader::EndWrite() {
  base::MutexLock lock(state_->mutex);
  state_->writing = false;
}

void SlowReader::Look(const std::shared_ptr<State>& state, int64_t last_write) {
  base::MutexLock lock(state->mutex);
  if (state->call == nullptr) return;
  const auto& may_go_on = base::Call::Of(*state->call).may_go_on;
  const bool may = !may_go_on || may_go_on();
  if (!may || (state->writing && state->num_writes == last_write)) {
    base::LogInfo(may ? "a stream is cut off whose client does not read"
                      : "a stream is cut off whose caller's token is over",
                  {{"peer", state->call->peer()}});
    // With the lock, so that the call is there; its reactor ends on another
    // thread, after its write has failed.
    state->call->TryCancel();
    return;
  }
  state->look = state->queue.RunAfter(
      state->queue.slow_limit(),
      [state, seen = state->num_writes] { Look(state, seen); });
}

}  // namespace ordo::services::files
