#ifndef ORDO_KERNELS_ATTENTION_CUDA_COUNTED_TERMS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_COUNTED_TERMS_H_

#include <cstdint>

#include "kernels/attention/cuda_counted_backward.h"

// The gradient of z, of cuda_counted.cu. Counts of a row fall from its first
// key to its last, and so does the number of z that a key's count lies above:
// one thread goes along the row, and writes a number's gradient when the keys
// are past it. Nothing is read back, and each number is written once.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

struct TermSums {
  // The row's; null: there is none.
  uint16_t* to;
  int last;
  // Keys now lie between this number and the next, which have got so far:
  int low;
  float own;
  float next;
};

// Whether the thread has a row: 16 lanes of each warp do.
ORDO_DEVICE int RowOfThread() {
  return device::ThreadId() / 32 * 16 + device::ThreadId() % 16;
}
ORDO_DEVICE bool HasRow() { return device::ThreadId() % 32 < 16; }

ORDO_DEVICE TermSums BeginTerms(const Call& call, const HeadOf& of,
                                int64_t query) {
  const Problem& p = call.problem;
  const View& view = call.d_inputs[kPositionTerm];
  const int64_t token = query + RowOfThread();
  TermSums sums = {};
  if (view.data == nullptr || !HasRow() || token >= p.queries) return sums;
  sums.to = static_cast<uint16_t*>(view.data) + of.batch * view.batch_stride +
            of.head * view.head_stride + token * view.token_stride;
  sums.low = sums.last = static_cast<int>(p.positions - 1);
  return sums;
}

ORDO_DEVICE void WriteTerm(float x, uint16_t* to) {
  *to = static_cast<uint16_t>(Element::Pack(x, 0));
}

// Goes on to the number `low`.
ORDO_DEVICE void GoTo(int low, TermSums* sums) {
  while (sums->low > low) {
    if (sums->low < sums->last) WriteTerm(sums->next, sums->to + sums->low + 1);
    sums->next = sums->own;
    sums->own = 0;
    --sums->low;
  }
}

// Adds what a step keeps; all threads see it.
ORDO_DEVICE void AddToTerms(const Kept& kept, TermSums* sums) {
  if (sums->to == nullptr) return;
  const int row = RowOfThread() * kTermsPitch;
  const int whole = kept.counts[row + kBehind];
  for (int key = 0; key < kCudaTile; ++key) {
    const float change = kept.changes[row + key];
    const int units = kept.counts[row + key];
    const int low = whole + units / kUnits;
    GoTo(low, sums);
    const float part = low < sums->last ? PartOf(units) : 0;
    sums->own += change * (1 - part);
    sums->next += change * part;
  }
}

// Writes what has not been written. What ended rows got comes to the last.
ORDO_DEVICE void EndTerms(TermSums* sums) {
  if (sums->to == nullptr) return;
  GoTo(-1, sums);
  WriteTerm(sums->next, sums->to);
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_COUNTED_TERMS_H_
