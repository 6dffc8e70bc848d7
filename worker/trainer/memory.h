#ifndef ORDO_WORKER_TRAINER_MEMORY_H_
#define ORDO_WORKER_TRAINER_MEMORY_H_

#include <cstdint>

#include "c10/core/Device.h"

namespace ordo::worker::trainer {

// The most memory that this process has held so far, in bytes: of a GPU what
// LibTorch's tensors took at a time, of the CPU resident main memory, libraries
// included. 0: not known. Throws what LibTorch throws.
int64_t PeakMemoryBytes(c10::Device device);

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_MEMORY_H_
