#ifndef ORDO_MODEL_TRAINING_C10D_COLLECTIVE_H_
#define ORDO_MODEL_TRAINING_C10D_COLLECTIVE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "c10/util/intrusive_ptr.h"
#include "model/guard.h"
#include "model/training/collective.h"
#include "model/training/peer_watch.h"
#include "torch/csrc/distributed/c10d/Backend.hpp"
#include "torch/csrc/distributed/c10d/TCPStore.hpp"

// Ranks that have met, over c10d. Internal to model/training; others see
// collective.h and c10d.h.

namespace ordo::model::training {

// One rank's connections to the others.
struct Connections {
  int rank = 0;
  int ranks = 1;
  // Of rank 0's process; notes lie in it.
  c10::intrusive_ptr<c10d::TCPStore> store;
  // What tensors go through.
  c10::intrusive_ptr<c10d::Backend> backend;
  // Of a backend that does not notice when a rank is lost; else null.
  std::unique_ptr<PeerWatch> watch;
};

// With a watch, tensors are added up in the order of the ranks, whatever way
// the backend takes between them: each rank gets its share of all tensors, adds
// it up from rank 0's on, and gives the others the sum.
std::unique_ptr<Collective> MakeCollective(Connections connections);

// The error as one of a lost rank, unless its code says that it is another.
absl::Status PeerLost(absl::Status status);

// As Guard, for calls that fail when another rank is lost.
template <typename Function>
auto GuardPeers(std::string_view attempted, Function&& function) {
  auto result = Guard(attempted, std::forward<Function>(function));
  if constexpr (std::is_same_v<decltype(result), absl::Status>) {
    return PeerLost(std::move(result));
  } else {
    if (!result.ok()) result = PeerLost(result.status());
    return result;
  }
}

// Notes in a store. Both throw what c10d throws.
void WriteNote(c10d::TCPStore& store, const std::string& key,
               const std::string& text);
// The note of `key`, or nothing if it is not there after `timeout`.
std::optional<std::string> ReadNote(c10d::TCPStore& store,
                                    const std::string& key,
                                    absl::Duration timeout);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_C10D_COLLECTIVE_H_
