#ifndef ORDO_MODEL_TRAINING_NCCL_LOAD_H_
#define ORDO_MODEL_TRAINING_NCCL_LOAD_H_

#include <string>

#include "absl/status/statusor.h"
#include "model/training/nccl/library.h"

namespace ordo::model::training::nccl {

// Loads the library of NCCL's process group at `path`, for as long as the
// program runs, after OpenDevice (numerics.h), which loads what it needs of
// LibTorch. Tells c10d, through the environment, to leave errors and lost ranks
// to who calls: it would end the process by threads of its own. A second time
// it does nothing more. Not while another thread reads the environment.
//
// FAILED_PRECONDITION: it is not there, which is so where it was built without
// a CUDA toolkit that has NCCL; it cannot be loaded (the message has the
// loader's reason); or it is not of this build.
absl::StatusOr<const Library*> LoadLibrary(const std::string& path);

}  // namespace ordo::model::training::nccl

#endif  // ORDO_MODEL_TRAINING_NCCL_LOAD_H_
