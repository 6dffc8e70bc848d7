#ifndef ORDO_KERNELS_COMMON_TESTING_CUDA_EMULATOR_H_
#define ORDO_KERNELS_COMMON_TESTING_CUDA_EMULATOR_H_

#include <cstdint>
#include <functional>
#include <string>

#include "kernels/common/device_graphs.h"

// The functions of kernels/common/cuda_device.h on a CPU, so that the numbers
// that device code computes are tested where there is no GPU.
//
// Blocks run one after the other, in an order that is drawn from a seed, as
// CUDA promises none; each thread of a block is a fiber. A fiber runs until it
// comes to a barrier or to something that its whole warp does together
// (shuffles, products and loads of matrices); which warp goes on is drawn, too,
// so that a missing barrier gives wrong numbers in some order. Matrices are put
// together from the lanes' registers by the layouts that the PTX ISA documents
// ("Matrix multiply-accumulate using mma instruction", "ldmatrix"). A copy that
// has not been waited for has put poison where it goes to.
//
// Shared memory and stacks begin as poison (0xFF, not a number in any
// type), and end before pages that nobody may touch. Found and said: lanes of
// a warp that part, threads that end before others at a barrier, addresses
// that are misaligned or outside of shared memory (in copies and loads of
// matrices).
//
// Not shown: races between warps that the orders tried do not bring out,
// anything of the memory model, limits of registers, speed.

namespace ordo::kernels::testing {

// What a block may have at compute capability 9.0.
constexpr int64_t SharedBytesOfBlock() { return 227 * 1024; }

struct Grid {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
  int threads = 0;
  int64_t shared_bytes = 0;
};

// The order of blocks and of warps from the next launch on.
void SetSchedule(uint64_t seed);

// Calls `thread` once for each thread of the grid. Null, or what was wrong: a
// text that stays until the next call. Not for two threads at a time.
const char* RunGrid(const Grid& grid, const std::function<void()>& thread);

// Does the work, or, while its stream is captured, has a graph do it later.
// Null, or what was wrong.
const char* DoOrKeep(void* stream, std::function<const char*()> work);

// Of the emulated device: one is captured at a time, and only what a kernel's
// argument carries is kept, as CUDA does.
const DeviceGraphs& EmulatedGraphs();

template <typename Argument>
const char* WhyNotBuilt(void (* /*kernel*/)(Argument)) {
  return nullptr;
}

template <typename Argument>
const char* Launch(void (*kernel)(Argument), const Grid& grid, void* stream,
                   const Argument& argument) {
  return DoOrKeep(stream, [kernel, grid, argument] {
    return RunGrid(grid, [&] { kernel(argument); });
  });
}

int ThreadId();
int64_t BlockX();
int64_t BlockY();
int64_t BlockZ();
int64_t GridX();
char* SharedMemory();
void SyncThreads();
float ShuffleXor(float value, int mask);
uint32_t PackBfloat16(float low, float high);
float FromBfloat16(uint16_t x);
uint32_t PackFloat16(float low, float high);
float FromFloat16(uint16_t x);
constexpr float AtLeast(float x, float least) { return x < least ? least : x; }
float AsFloat(uint32_t word);
uint32_t AsWord(float x);

template <int kCount>
struct alignas(4 * kCount) Words {
  uint32_t word[kCount];
};

// Whether `bytes` begin at a multiple of their number: else the launch fails.
bool IsAligned(const void* at, int bytes);

template <int kCount>
Words<kCount> LoadWords(const void* from) {
  if (!IsAligned(from, 4 * kCount)) return {};
  return *static_cast<const Words<kCount>*>(from);
}

template <int kCount>
void StoreWords(const Words<kCount>& words, void* to) {
  if (IsAligned(to, 4 * kCount)) *static_cast<Words<kCount>*>(to) = words;
}

void LoadMatrices(const void* row, uint32_t matrices[4]);
void LoadTransposed(const void* row, uint32_t matrices[4]);
void MultiplyAdd(const uint32_t a[4], const uint32_t b[2], float c[4]);
void MultiplyAddFloat16(const uint32_t a[4], const uint32_t b[2], float c[4]);
void CopyAsync(void* shared, const void* global, bool real);
void CommitCopies();
void WaitForCopiesBut(int pending);
template <int kPending>
void WaitForCopies() {
  WaitForCopiesBut(kPending);
}

// For units of the device that are emulated elsewhere (cuda_hopper_emulator.h).

// The first that is said ends the run.
void FailRun(const std::string& what);

// Of each block, for its units: when it begins, and what a unit has to do on
// its own at some time or other; false: nothing.
struct Unit {
  void (*begin_block)();
  bool (*go_on)();
};
// The only one.
void SetUnit(const Unit& unit);

// Calls `work` with the 32 `argument`s of a warp, once all its lanes have come.
void DoTogether(void (*work)(void* const* arguments), void* argument);

// Comes back when the lowest bit of `phase` is no longer `parity`.
void WaitForChange(const uint32_t* phase, uint32_t parity);

// Below `limit`, at random.
uint64_t Draw(uint64_t limit);

// Bytes of the block's shared memory, from SharedMemory() on.
int64_t SharedBytes();

}  // namespace ordo::kernels::testing

#endif  // ORDO_KERNELS_COMMON_TESTING_CUDA_EMULATOR_H_
