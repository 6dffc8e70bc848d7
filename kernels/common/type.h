#ifndef ORDO_KERNELS_COMMON_TYPE_H_
#define ORDO_KERNELS_COMMON_TYPE_H_

namespace ordo::kernels {

// Of a tensor's numbers.
enum class Type { kFloat32, kBfloat16, kFloat16 };

// Where tensors lie, and who computes.
enum class Device { kCpu, kCuda };

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_TYPE_H_
