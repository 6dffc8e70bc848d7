#ifndef ORDO_KERNELS_COMMON_CUDA_HOPPER_H_
#define ORDO_KERNELS_COMMON_CUDA_HOPPER_H_

#include <cstdint>

#include "kernels/common/cuda_box.h"
#include "kernels/common/cuda_device.h"

// What device code asks of a GPU of compute capability 9.0 beside
// cuda_device.h: copies of boxes of a tensor, barriers in shared memory,
// products of 64 rows by four warps with operands in shared memory
// (cuda_hopper_products.h). The instructions are those of CUTLASS and CuTe, but
// for sums and turns in global memory, which these do not have in this form.
// With ORDO_CUDA_EMULATED it runs on a CPU, see testing/cuda_hopper_emulator.h.

#ifdef ORDO_CUDA_EMULATED

#include "kernels/common/testing/cuda_hopper_emulator.h"

// A kernel that has a multiprocessor for itself, and its argument, of which it
// may take addresses.
#define ORDO_KERNEL_ALONE(threads) void
#define ORDO_GRID_CONSTANT
#define ORDO_ROLLED

#else

#include <cuda.h>

#include "cute/arch/copy_sm90.hpp"
#include "cutlass/arch/barrier.h"
#include "cutlass/arch/reg_reconfig.h"

#define ORDO_KERNEL_ALONE(threads) __global__ void __launch_bounds__(threads, 1)
#define ORDO_GRID_CONSTANT __grid_constant__
#define ORDO_ROLLED _Pragma("unroll 1")

namespace ordo::kernels::device {

using TensorMap = CUtensorMap;

// 10 times the major plus the minor number of the current device; 0: there is
// none.
inline int ComputeCapability() {
  static const int found = [] {
    int device = 0, major = 0, minor = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor,
                               device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor,
                               device) != cudaSuccess) {
      // An error that is left behind would be taken for the next launch's.
      static_cast<void>(cudaGetLastError());
      return 0;
    }
    return 10 * major + minor;
  }();
  return found;
}

// Of the current device; 0: there is none.
inline int Multiprocessors() {
  static const int found = [] {
    int device = 0, number = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&number, cudaDevAttrMultiProcessorCount,
                               device) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return 0;
    }
    return number;
  }();
  return found;
}

// The driver's function that makes maps, or null.
inline auto TensorMapEncoder() {
  static const auto encoder = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                         12000, cudaEnableDefault,
                                         &result) != cudaSuccess ||
        result != cudaDriverEntryPointSuccess) {
      static_cast<void>(cudaGetLastError());
      found = nullptr;
    }
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  }();
  return encoder;
}

// Makes a map for CopyBox on the host, without asking the device. Null, or what
// went wrong; the data and all strides must be multiples of 16 bytes. Boxes are
// copied bit by bit, whatever type of 16 bits the map names.
inline const char* MakeTensorMap(const BoxedTensor& tensor, TensorMap* map) {
  const auto encode = TensorMapEncoder();
  if (encode == nullptr) return "the driver makes no tensor maps";
  cuuint64_t sizes[4], strides[3];
  for (int i = 0; i < 4; ++i) {
    sizes[i] = static_cast<cuuint64_t>(tensor.sizes[i]);
  }
  for (int i = 0; i < 3; ++i) {
    // Nobody goes along an axis of one.
    const int64_t stride = tensor.sizes[i + 1] == 1 ? 8 : tensor.strides[i];
    strides[i] = static_cast<cuuint64_t>(2 * stride);
  }
  const cuuint32_t box[4] = {kTileColumns, static_cast<cuuint32_t>(tensor.rows),
                             1, 1};
  const cuuint32_t steps[4] = {1, 1, 1, 1};
  const CUresult result = encode(
      map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, const_cast<void*>(tensor.data),
      sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? nullptr : "a tensor map cannot be made";
}

// Queues zeros for memory of the device. Null, or what went wrong.
inline const char* Clear(void* memory, int64_t bytes, void* stream) {
  return TextOf(cudaMemsetAsync(memory, 0, static_cast<size_t>(bytes),
                                static_cast<cudaStream_t>(stream)));
}

// The thread's group of 128, the same for the whole warp.
ORDO_DEVICE int GroupId() {
  return __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x) / kGroupThreads,
                     0);
}

// All lanes have come here, and see what the others wrote.
ORDO_DEVICE void SyncWarp() { __syncwarp(); }

// The compiler moves no access to memory past it. CUTLASS' barriers and fences
// do not say that they order memory.
ORDO_DEVICE void KeepOrder() { asm volatile("" : : : "memory"); }

// `threads` threads, whole warps, have come to the barrier of this number, 0 to
// 7, and see what the others wrote.
ORDO_DEVICE void SyncSome(int barrier, int threads) {
  KeepOrder();
  cutlass::arch::NamedBarrier::sync(static_cast<uint32_t>(threads),
                                    static_cast<uint32_t>(barrier));
  KeepOrder();
}

// What the thread wrote to shared memory is seen by products and copies that
// begin after a barrier.
ORDO_DEVICE void PublishToProducts() {
  KeepOrder();
  cutlass::arch::fence_view_async_shared();
  KeepOrder();
}

// Barriers in shared memory: eight bytes at a multiple of 8. A phase ends when
// as many as were named have arrived and all bytes that were announced are
// there; phases are counted from 0.
ORDO_DEVICE void BeginBarrier(uint64_t* barrier, int arrivals) {
  cutlass::arch::ClusterBarrier::init(barrier, static_cast<uint32_t>(arrivals));
  KeepOrder();
}

// After BeginBarrier, before the barrier of all threads that must follow.
ORDO_DEVICE void PublishBarriers() {
  KeepOrder();
  cutlass::arch::fence_barrier_init();
  KeepOrder();
}

ORDO_DEVICE void Arrive(uint64_t* barrier) {
  KeepOrder();
  cutlass::arch::ClusterBarrier::arrive(barrier);
  KeepOrder();
}

// Arrives, and announces bytes that copies will bring.
ORDO_DEVICE void ArriveExpecting(uint64_t* barrier, int64_t bytes) {
  KeepOrder();
  cutlass::arch::ClusterTransactionBarrier::arrive_and_expect_tx(
      barrier, static_cast<uint32_t>(bytes));
  KeepOrder();
}

// The last phase that was even (0), or odd (1), has ended; before the first
// phase, an odd one has.
ORDO_DEVICE void WaitForPhase(uint64_t* barrier, int parity) {
  KeepOrder();
  cutlass::arch::ClusterBarrier::wait(barrier, static_cast<uint32_t>(parity));
  KeepOrder();
}

// Where a box begins, along the axes from the last on; what lies outside of the
// tensor is zeros.
struct BoxPlace {
  int column;
  int row;
  int head;
  int batch;
};

// Begins to copy a box to a tile, at a multiple of kTileAlignment; the barrier
// gets its bytes.
ORDO_DEVICE void CopyBox(const TensorMap& map, const BoxPlace& place,
                         void* tile, uint64_t* barrier) {
  cute::SM90_TMA_LOAD_4D::copy(
      &map, barrier,
      static_cast<uint64_t>(cute::TMA::CacheHintSm90::EVICT_NORMAL), tile,
      place.column, place.row, place.head, place.batch);
}

// Adds to two numbers in global memory, at a multiple of 8 bytes.
ORDO_DEVICE void AddPair(float* pair, float x, float y) {
  asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};"
               :
               : "l"(pair), "f"(x), "f"(y)
               : "memory");
}

// A number that is each time one more than before, the first the one that is
// there.
ORDO_DEVICE int TakeTicket(int* tickets) {
  int ticket;
  asm volatile("atom.relaxed.gpu.global.add.s32 %0, [%1], 1;"
               : "=r"(ticket)
               : "l"(tickets)
               : "memory");
  return ticket;
}

// For one thread of those that share a turn, which all come to a barrier then:
// as many turns have ended as are named, and what was added before is there.
ORDO_DEVICE void WaitForTurn(const int* turns, int turn) {
  int ended = 0;
  do {
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];"
                 : "=r"(ended)
                 : "l"(turns)
                 : "memory");
  } while (ended < turn);
  // Once, as it empties the cache.
  asm volatile("fence.acq_rel.gpu;" : : : "memory");
}

// For one thread, after a barrier of those that shared the turn.
ORDO_DEVICE void EndTurn(int* turns) {
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;"
               :
               : "l"(turns)
               : "memory");
}

// Of the threads' registers: the warps of a group hand some back, or get more.
template <int kCount>
ORDO_DEVICE void KeepRegisters() {
  cutlass::arch::warpgroup_reg_dealloc<kCount>();
}
template <int kCount>
ORDO_DEVICE void TakeRegisters() {
  cutlass::arch::warpgroup_reg_alloc<kCount>();
}

}  // namespace ordo::kernels::device

#endif  // ORDO_CUDA_EMULATED

#endif  // ORDO_KERNELS_COMMON_CUDA_HOPPER_H_
