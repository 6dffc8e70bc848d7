#ifndef ORDO_KERNELS_UPDATE_CUDA_CODE_H_
#define ORDO_KERNELS_UPDATE_CUDA_CODE_H_

#include <cstdint>

#include "kernels/update/problem.h"

// Between the table and the library of CUDA kernels, which is loaded at run
// time: plain data and functions that need no other library on either side.

namespace ordo::kernels::update {

// A row of the table. Texts are static.
struct CudaCode {
  const char* name;
  // Null, or why the current device and this kernel cannot do it.
  const char* (*refusal)(const Problem& problem);
  // Of the workspace of each pass.
  int64_t (*forward_bytes)(const Problem& problem);
  int64_t (*backward_bytes)(const Problem& problem);
  // Queue the pass on a cudaStream_t. Null, or what went wrong.
  const char* (*forward)(const Call& call, void* workspace, void* stream);
  const char* (*backward)(const Call& call, void* workspace, void* stream);
};

// cuda_fused.cu.
const CudaCode& FusedCuda();

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_CUDA_CODE_H_
