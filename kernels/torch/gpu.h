#ifndef ORDO_KERNELS_TORCH_GPU_H_
#define ORDO_KERNELS_TORCH_GPU_H_

#include <string>

#include "absl/status/statusor.h"

namespace ordo::kernels::torch {

// Makes the first GPU that the process sees usable, LibTorch's device cuda:0:
// loads LibTorch's CUDA libraries, which lie beside the others and which a
// program without a GPU need not have, and the library of our kernels at
// `kernels`. Gives what the GPU is called and what drives it. A second time it
// does nothing more.
//
// Call it before LibTorch is asked for anything of CUDA, which it would
// remember as missing, and while no other thread uses LibTorch or a table.
// FAILED_PRECONDITION: what is missing of libraries, driver or GPU, and where
// it was looked for.
absl::StatusOr<std::string> OpenGpu(const std::string& kernels);

}  // namespace ordo::kernels::torch

#endif  // ORDO_KERNELS_TORCH_GPU_H_
