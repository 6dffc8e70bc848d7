#ifndef ORDO_KERNELS_TORCH_TESTING_RECORDER_H_
#define ORDO_KERNELS_TORCH_TESTING_RECORDER_H_

#include <vector>

#include "kernels/attention/problem.h"

// A row of attention's table that computes with the best of the others, and
// keeps what it was asked for.

namespace ordo::kernels::torch::testing {

// Its name, by which it is chosen: it stands last.
inline constexpr char kRecorder[] = "recorder";

// Adds it, once. Not thread-safe.
void AddRecorder();

// The problems of its forward passes since the last call.
std::vector<attention::Problem> TakeRecorded();

}  // namespace ordo::kernels::torch::testing

#endif  // ORDO_KERNELS_TORCH_TESTING_RECORDER_H_
