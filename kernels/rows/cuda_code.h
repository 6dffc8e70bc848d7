#ifndef ORDO_KERNELS_ROWS_CUDA_CODE_H_
#define ORDO_KERNELS_ROWS_CUDA_CODE_H_

#include <cstdint>

#include "kernels/rows/problem.h"

// Between the table and the library of CUDA kernels, which is loaded at run
// time: plain data and functions that need no other library on either side.

namespace ordo::kernels::rows {

// Of all that the passes take.
inline constexpr int64_t kCallBytes = sizeof(Rotation) + sizeof(Norm) +
                                      sizeof(Gate) + sizeof(Adam) +
                                      sizeof(AdamPart) + sizeof(Loss);

// What a pass of a row of the table is: it queues its work on a cudaStream_t.
// Null, or what went wrong.
template <typename Problem>
using CudaPass = const char* (*)(const Problem& problem, void* workspace,
                                 void* stream);

// A row of the table; see there. Texts are static.
struct CudaCode {
  const char* name;
  // Null, or why the current device cannot do it.
  const char* (*refusal)();
  int64_t (*norm_workspace_bytes)(const Norm& norm);
  CudaPass<Rotation> turn;
  CudaPass<Rotation> turn_backward;
  CudaPass<Norm> norm;
  CudaPass<Norm> norm_backward;
  CudaPass<Gate> gate;
  CudaPass<Gate> gate_backward;
  CudaPass<Adam> adam;
  CudaPass<Loss> loss;
  CudaPass<Loss> loss_backward;
};

// cuda_fused.cu.
const CudaCode& FusedCuda();

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CUDA_CODE_H_
