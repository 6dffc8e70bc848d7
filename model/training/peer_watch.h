#ifndef ORDO_MODEL_TRAINING_PEER_WATCH_H_
#define ORDO_MODEL_TRAINING_PEER_WATCH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/sockets/listener.h"

namespace ordo::model::training {

// Notices that a rank has ended, for what does not notice itself: a GPU waits
// for the others' numbers forever. Each rank holds a connection to rank 0 over
// which it says once which one it is; it ends with the process, and then rank 0
// closes all, so that the loss is known to all at once. A rank that stands
// still is not noticed, nor is one whose machine was cut off without a word.
//
// One thread makes the calls.
class PeerWatch {
 public:
  struct Options {
    // What a call that has begun before a rank was lost may still take.
    absl::Duration patience = absl::Seconds(3);
    // Called from a thread of the watch when that was not enough: what the call
    // waits for will not end, and only the end of the process ends it. With
    // what this rank left for; OK: another one was lost.
    std::function<void(const absl::Status& failure)> on_stuck =
        [](const absl::Status&) {};
  };

  // Of rank 0: takes the connections of the `ranks` - 1 others at `listener`,
  // which the caller closes. `go_on` is asked several times a second whether to
  // wait for them; its error is returned.
  static absl::StatusOr<std::unique_ptr<PeerWatch>> Accept(
      const base::Listener& listener, int ranks,
      const std::function<absl::Status()>& go_on, Options options);
  // Of another rank, by where rank 0 listens. UNAVAILABLE, NOT_FOUND: nobody is
  // there.
  static absl::StatusOr<std::unique_ptr<PeerWatch>> Join(
      const std::string& host, uint16_t port, int rank, Options options);
  // Ends the connections: this rank is lost for the others.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // From here on this rank, which has failed, is lost for the others and, a
  // moment later, for itself; a call that it is in may still take the patience.
  void Leave(const absl::Status& failure);

  bool lost() const { return lost_; }
  // Whether a rank is lost, at the latest after `timeout`.
  bool AwaitLoss(absl::Duration timeout) const;

  // While it lives, the thread waits for other ranks.
  class Call {
   public:
    explicit Call(PeerWatch* watch) : watch_(watch) { ++watch_->calls_; }
    ~Call() { ++watch_->calls_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    PeerWatch* const watch_;
  };

 private:
  // Takes the connections.
  PeerWatch(std::vector<int> connections, Options options);
  void Watch();
  void ShutConnections();

  const std::vector<int> connections_;
  const Options options_;
  // Readable once the watch ends, and once a rank is lost.
  const int end_;
  const int loss_;
  std::atomic<bool> lost_ = false;
  // Begun and ended ones: odd during a call.
  std::atomic<int64_t> calls_ = 0;
  base::Mutex mutex_;
  // What this rank left for.
  absl::Status failure_ ORDO_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_PEER_WATCH_H_
