#ifndef ORDO_MODEL_TRAINING_COLLECTIVE_H_
#define ORDO_MODEL_TRAINING_COLLECTIVE_H_

#include <optional>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ordo::model::training {

// The reason (base::ErrorInfo) of an error that came from the connections to
// other ranks: one of them has ended or cannot be reached.
inline constexpr char kPeerLostReason[] = "PEER_LOST";
// Of one that NCCL gave while no rank was lost. Which GPU or network is to
// blame is not known.
inline constexpr char kNcclErrorReason[] = "NCCL_ERROR";

// The ranks of a run among themselves, of which this process is one. All ranks
// make the same calls of AllReduceSum and Broadcast in the same order, each of
// which returns when the others have come to it. Not thread-safe.
//
// Errors are UNAVAILABLE with kPeerLostReason or kNcclErrorReason, without
// either when a device failed, and RESOURCE_EXHAUSTED. After one the object is
// not to be used: what of a tensor has arrived is undefined.
class Collective {
 public:
  virtual ~Collective() = default;

  // From 0; below ranks().
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // Replaces each tensor, dense and of the same shape and type on all ranks, by
  // its sum over them: the same bits on all of them, and whenever as many ranks
  // add up the same.
  virtual absl::Status AllReduceSum(std::vector<at::Tensor> tensors) = 0;

  // Replaces each tensor by that of rank 0.
  virtual absl::Status Broadcast(std::vector<at::Tensor> tensors) = 0;

  // Leaves a note, which all ranks can read as long as rank 0 lives.
  virtual absl::Status Tell(const std::string& key,
                            const std::string& text) = 0;
  // The note of this key, or nothing if nobody left it within `timeout`.
  virtual absl::StatusOr<std::optional<std::string>> Told(
      const std::string& key, absl::Duration timeout) = 0;
};

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_COLLECTIVE_H_
