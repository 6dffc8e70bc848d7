#ifndef ORDO_KERNELS_COMMON_TESTING_CUDA_HOPPER_EMULATOR_H_
#define ORDO_KERNELS_COMMON_TESTING_CUDA_HOPPER_EMULATOR_H_

#include <cstdint>

#include "kernels/common/cuda_box.h"
#include "kernels/common/testing/cuda_emulator.h"

// The functions of kernels/common/cuda_hopper.h on a CPU, on the emulated
// device of cuda_emulator.h. Operands are found in shared memory as the PTX ISA
// documents it ("Asynchronous warpgroup level matrix instructions": matrix
// descriptors, the 128-byte swizzle, register fragments; "Tensors": boxes that
// reach beyond a tensor).
//
// Copies of boxes arrive at a drawn time; until then poison is where they go
// to. Products see what copies brought and what was published to them, and
// nothing else of what threads wrote. Sums of a product are poison until they
// are waited for. Found and said: tiles at wrong places, sums, registers and
// tiles that change while a product reads them, barriers that were not begun or
// get more than they wait for, products without BeginProducts.
//
// Not shown: that a thread publishes only its own writes, and the memory model
// altogether.

namespace ordo::kernels::testing {

struct TensorMap {
  BoxedTensor tensor;
};

constexpr int ComputeCapability() { return 90; }
// Blocks run one after the other.
constexpr int Multiprocessors() { return 1; }
const char* MakeTensorMap(const BoxedTensor& tensor, TensorMap* map);

int GroupId();
void SyncWarp();
void SyncSome(int barrier, int threads);
void PublishToProducts();
void BeginBarrier(uint64_t* barrier, int arrivals);
inline void PublishBarriers() {}
void Arrive(uint64_t* barrier);
void ArriveExpecting(uint64_t* barrier, int64_t bytes);
void WaitForPhase(uint64_t* barrier, int parity);

struct BoxPlace {
  int column;
  int row;
  int head;
  int batch;
};

void CopyBox(const TensorMap& map, const BoxPlace& place, void* tile,
             uint64_t* barrier);

const char* Clear(void* memory, int64_t bytes, void* stream);
void AddPair(float* pair, float x, float y);
int TakeTicket(int* tickets);
// A turn that has not come never will: blocks run one after the other.
void WaitForTurn(const int* turns, int turn);
void EndTurn(int* turns);

template <int kCount>
void KeepRegisters() {}
template <int kCount>
void TakeRegisters() {}

uint32_t SharedAddress(const void* pointer);
void BeginProducts();
void CommitProducts();
void WaitForProductsBut(int pending);
template <int kPending>
void WaitForProducts() {
  WaitForProductsBut(kPending);
}
template <int kTiles>
void Pin(float (&)[kTiles][4]) {}
template <int kSteps>
void Pin(uint32_t (&)[kSteps][4]) {}

// As a lane begins it.
struct Product {
  // Of a number of an operand.
  float (*from)(uint16_t);
  // Null: the left operand lies at `left`.
  const uint32_t* registers;
  uint64_t left;
  uint64_t right;
  bool turn_left;
  bool turn_right;
  bool adds;
  int columns;
  float* sums;
};
void Begin(Product product);

template <typename Element, int kColumns, bool kTurnLeft, bool kTurnRight>
void MultiplyTiles(uint64_t left, uint64_t right, bool adds,
                   float (&sums)[kColumns / 8][4]) {
  Begin({Element::From, nullptr, left, right, kTurnLeft, kTurnRight, adds,
         kColumns, sums[0]});
}

template <typename Element, int kColumns, bool kTurnRight>
void MultiplyRegisters(const uint32_t (&left)[4], uint64_t right, bool adds,
                       float (&sums)[kColumns / 8][4]) {
  Begin({Element::From, left, 0, right, false, kTurnRight, adds, kColumns,
         sums[0]});
}

}  // namespace ordo::kernels::testing

#endif  // ORDO_KERNELS_COMMON_TESTING_CUDA_HOPPER_EMULATOR_H_
