#ifndef ORDO_SERVICES_FILES_SLOW_READER_H_
#define ORDO_SERVICES_FILES_SLOW_READER_H_

#include <cstdint>
#include <memory>

#include "grpcpp/server_context.h"
#include "services/files/work_queue.h"

namespace ordo::services::files {

// Cuts off a stream whose client does not take a message for
// WorkQueue::slow_limit, or for twice that at most: it holds memory, and one of
// the streams that there may be. Looks as often whether the stream may go on
// (base::Call::may_go_on). Member of the stream's reactor. Thread-safe.
class SlowReader {
 public:
  // `call`: the stream's; null: nothing is cut off. `queue` outlives the
  // server.
  SlowReader(WorkQueue& queue, grpc::CallbackServerContext* call);
  ~SlowReader();
  SlowReader(const SlowReader&) = delete;
  SlowReader& operator=(const SlowReader&) = delete;

  // A message goes to gRPC, and was taken.
  void BeginWrite();
  void EndWrite();
  // The stream is over; its call may go from here on.
  void End();

 private:
  struct State;

  // Cuts off if the write of that number is still under way; else looks again.
  static void Look(const std::shared_ptr<State>& state, int64_t last_write);

  const std::shared_ptr<State> state_;
};

}  // namespace ordo::services::files

#endif  // ORDO_SERVICES_FILES_SLOW_READER_H_
