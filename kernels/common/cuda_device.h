#ifndef ORDO_KERNELS_COMMON_CUDA_DEVICE_H_
#define ORDO_KERNELS_COMMON_CUDA_DEVICE_H_

#include <cstdint>

// What device code asks of a GPU of compute capability 8.0 or newer, and no
// more: with nvcc each function is one or two instructions; with
// ORDO_CUDA_EMULATED and any C++ compiler the same code runs on a CPU, see
// testing/cuda_emulator.h.
//
// Legend of matrix fragments: g = lane / 4 and t = lane % 4 of a warp.

#ifdef ORDO_CUDA_EMULATED

#include "kernels/common/testing/cuda_emulator.h"

namespace ordo::kernels {
namespace device = testing;
}  // namespace ordo::kernels

#define ORDO_DEVICE inline
#define ORDO_KERNEL(threads) void
#define ORDO_UNROLL

#else

#include <cuda_runtime.h>

#define ORDO_DEVICE __device__ __forceinline__
#define ORDO_KERNEL(threads) __global__ void __launch_bounds__(threads)
#define ORDO_UNROLL _Pragma("unroll")

namespace ordo::kernels::device {

// What a block of the current device may have of shared memory; 0 if there is
// no device. A number that is asked for once: devices of a process are alike.
inline int64_t SharedBytesOfBlock() {
  static const int64_t bytes = [] {
    int device = 0, found = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&found, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                               device) != cudaSuccess) {
      // An error that is left behind would be taken for the next launch's.
      static_cast<void>(cudaGetLastError());
      found = 0;
    }
    return int64_t{found};
  }();
  return bytes;
}

// Of a launch; dynamic shared memory begins at a multiple of 128 bytes.
struct Grid {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
  int threads = 0;
  int64_t shared_bytes = 0;
};

// Null, or what is wrong; the device forgets it, as the next launch would be
// blamed.
inline const char* TextOf(cudaError_t error) {
  if (error == cudaSuccess) return nullptr;
  static_cast<void>(cudaGetLastError());
  return cudaGetErrorString(error);
}

// What to do if the library lacks the kernel for the current device, which
// stays so; else null. Of other errors, which may pass, a launch tells.
template <typename Argument>
const char* WhyNotBuilt(void (*kernel)(Argument)) {
  cudaFuncAttributes found;
  const cudaError_t error = cudaFuncGetAttributes(&found, kernel);
  static_cast<void>(TextOf(error));
  const bool lacks = error == cudaErrorNoKernelImageForDevice ||
                     error == cudaErrorInvalidDeviceFunction;
  return lacks ? "the library was not built for this GPU: bazel build "
                 "--config=cuda_all"
               : nullptr;
}

// Queues the kernel on the stream. Null, or what went wrong.
template <typename Argument>
const char* Launch(void (*kernel)(Argument), const Grid& grid, void* stream,
                   const Argument& argument) {
  // More than 48 KB must be asked for; all of it, as another thread may launch
  // the kernel with more.
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(SharedBytesOfBlock()));
  if (error == cudaSuccess) {
    const dim3 blocks(static_cast<unsigned>(grid.x),
                      static_cast<unsigned>(grid.y),
                      static_cast<unsigned>(grid.z));
    kernel<<<blocks, grid.threads, grid.shared_bytes,
             static_cast<cudaStream_t>(stream)>>>(argument);
    error = cudaPeekAtLastError();
  }
  return TextOf(error);
}

ORDO_DEVICE int ThreadId() { return static_cast<int>(threadIdx.x); }
ORDO_DEVICE int64_t BlockX() { return blockIdx.x; }
ORDO_DEVICE int64_t BlockY() { return blockIdx.y; }
ORDO_DEVICE int64_t BlockZ() { return blockIdx.z; }
ORDO_DEVICE int64_t GridX() { return gridDim.x; }

// The block's dynamic shared memory.
ORDO_DEVICE char* SharedMemory() {
  extern __shared__ __align__(128) char memory[];
  return memory;
}

// All threads of the block have come here, and see what the others wrote.
ORDO_DEVICE void SyncThreads() { __syncthreads(); }

// The value of the lane whose number differs by `mask`.
ORDO_DEVICE float ShuffleXor(float value, int mask) {
  return __shfl_xor_sync(0xFFFFFFFFU, value, mask);
}

// Two bf16, rounded to nearest even, `low` in the low half.
ORDO_DEVICE uint32_t PackBfloat16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

ORDO_DEVICE float FromBfloat16(uint16_t x) {
  return __uint_as_float(static_cast<uint32_t>(x) << 16);
}

// The same of fp16: infinite from 65520 on.
ORDO_DEVICE uint32_t PackFloat16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

ORDO_DEVICE float FromFloat16(uint16_t x) {
  float number;
  asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(x));
  return number;
}

// The larger number; what is not a number stays so, which fmaxf would drop.
ORDO_DEVICE float AtLeast(float x, float least) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(x), "f"(least));
  return larger;
}

ORDO_DEVICE float AsFloat(uint32_t word) { return __uint_as_float(word); }
ORDO_DEVICE uint32_t AsWord(float x) { return __float_as_uint(x); }

// Words that are read and written together, at a multiple of their size: two or
// four.
template <int kCount>
struct alignas(4 * kCount) Words {
  uint32_t word[kCount];
};

template <int kCount>
ORDO_DEVICE Words<kCount> LoadWords(const void* from) {
  return *static_cast<const Words<kCount>*>(from);
}

template <int kCount>
ORDO_DEVICE void StoreWords(const Words<kCount>& words, void* to) {
  *static_cast<Words<kCount>*>(to) = words;
}

ORDO_DEVICE uint32_t SharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Four matrices of 8 x 8 numbers of 16 bits: lane l names row l % 8 of matrix
// l / 8, 16 bytes of shared memory at a multiple of 16. matrices[i] of a lane
// gets elements (g, 2t) and (g, 2t + 1) of matrix i.
ORDO_DEVICE void LoadMatrices(const void* row, uint32_t matrices[4]) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]),
        "=r"(matrices[3])
      : "r"(SharedAddress(row))
      : "memory");
}

// The same of the transposed matrices: elements (2t, g) and (2t + 1, g).
ORDO_DEVICE void LoadTransposed(const void* row, uint32_t matrices[4]) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]),
        "=r"(matrices[3])
      : "r"(SharedAddress(row))
      : "memory");
}

// C += A B for A of 16 x 16 and B of 16 x 8 bf16, C of fp32. Pairs of a lane:
//   a[0] (g, 2t)  a[1] (g + 8, 2t)  a[2] (g, 2t + 8)  a[3] (g + 8, 2t + 8)
//   b[0] (2t, g)  b[1] (2t + 8, g), pairs down a column
//   c[0..1] (g, 2t)  c[2..3] (g + 8, 2t)
ORDO_DEVICE void MultiplyAdd(const uint32_t a[4], const uint32_t b[2],
                             float c[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same of fp16.
ORDO_DEVICE void MultiplyAddFloat16(const uint32_t a[4], const uint32_t b[2],
                                    float c[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Begins to copy 16 bytes to shared memory, both at multiples of 16; zeros
// unless `real`, when nothing is read.
ORDO_DEVICE void CopyAsync(void* shared, const void* global, bool real) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(SharedAddress(shared)), "l"(global), "r"(real ? 16 : 0)
               : "memory");
}

// Ends a group of the thread's copies.
ORDO_DEVICE void CommitCopies() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}

// The thread's copies have arrived, but for those of the last `kPending`
// groups. Other threads see them after the next barrier.
template <int kPending>
ORDO_DEVICE void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(kPending) : "memory");
}

}  // namespace ordo::kernels::device

#endif  // ORDO_CUDA_EMULATED

#endif  // ORDO_KERNELS_COMMON_CUDA_DEVICE_H_
