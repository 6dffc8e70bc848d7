#ifndef ORDO_MODEL_TRAINING_NCCL_LIBRARY_H_
#define ORDO_MODEL_TRAINING_NCCL_LIBRARY_H_

#include <chrono>

#include "c10/util/intrusive_ptr.h"
#include "torch/csrc/distributed/c10d/Backend.hpp"
#include "torch/csrc/distributed/c10d/Store.hpp"
#include "torch/headeronly/version.h"

// What libordo_nccl.so has, behind its one entry. Both sides use the same
// LibTorch.

namespace ordo::model::training::nccl {

// One rank of a group, as Library::join makes it.
struct Group {
  // Where ranks leave for each other how to connect.
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0;
  int ranks = 1;
  // Of a call.
  std::chrono::milliseconds timeout;
};

struct Library {
  // kBuild of the headers that it was compiled with.
  const char* build;
  // c10d's process group over NCCL. Ranks connect with their first call, on the
  // GPU of its tensors, each on one of its own. Throws what LibTorch throws.
  c10::intrusive_ptr<c10d::Backend> (*join)(const Group& group);
};

inline constexpr char kBuild[] = "1, LibTorch " TORCH_VERSION;

// The entry's type and its name.
using Entry = const Library* (*)();
inline constexpr char kEntry[] = "OrdoNcclLibrary";

}  // namespace ordo::model::training::nccl

#endif  // ORDO_MODEL_TRAINING_NCCL_LIBRARY_H_
