#include "model/tasks/epochs.h"

#include "absl/strings/str_cat.h"
#include "base/random/random.h"

namespace ordo::model::tasks {
namespace {

constexpr uint64_t kRounds = 6;

// A Feistel network: a permutation of the numbers of 2 * half_bits bits, for
// any function of a half.
uint64_t Permute(const base::RandomStream& stream, int half_bits,
                 uint64_t number) {
  const uint64_t mask = (uint64_t{1} << half_bits) - 1;
  uint64_t left = number >> half_bits;
  uint64_t right = number & mask;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const uint64_t mixed = stream.Bits(right * kRounds + round) & mask;
    const uint64_t next = left ^ mixed;
    left = right;
    right = next;
  }
  return (left << half_bits) | right;
}

}  // namespace

uint64_t RowOfSet(uint64_t seed, uint64_t index, uint64_t num_rows) {
  if (num_rows == 0) return index;
  const base::RandomStream stream(seed,
                                  absl::StrCat("order/", index / num_rows));
  int half_bits = 1;
  while ((uint64_t{1} << (2 * half_bits)) < num_rows) ++half_bits;
  // What is outside of the set is permuted again. This ends: a permutation's
  // cycle comes back to where it began, which is inside. Of the numbers a
  // quarter and more are.
  uint64_t row = index % num_rows;
  do {
    row = Permute(stream, half_bits, row);
  } while (row >= num_rows);
  return row;
}

}  // namespace ordo::model::tasks
