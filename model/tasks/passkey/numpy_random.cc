#include "model/tasks/passkey/numpy_random.h"

#include "base/check.h"

namespace ordo::model::tasks::passkey {
namespace {

constexpr size_t kMiddle = 397;
constexpr uint32_t kTwist = 0x9908b0df;
constexpr uint32_t kHighest = 0x80000000;

}  // namespace

NumpyRandom::NumpyRandom(uint32_t seed) : words_() {
  words_[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    const uint32_t before = words_[i - 1];
    words_[i] = 1812433253U * (before ^ (before >> 30)) + i;
  }
}

void NumpyRandom::Refill() {
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t joined =
        (words_[i] & kHighest) | (words_[(i + 1) % kWords] & ~kHighest);
    words_[i] = words_[(i + kMiddle) % kWords] ^ (joined >> 1) ^
                ((joined & 1) != 0 ? kTwist : 0);
  }
  next_ = 0;
}

uint32_t NumpyRandom::Bits() {
  if (next_ == kWords) Refill();
  uint32_t bits = words_[next_++];
  bits ^= bits >> 11;
  bits ^= (bits << 7) & 0x9d2c5680;
  bits ^= (bits << 15) & 0xefc60000;
  return bits ^ (bits >> 18);
}

uint32_t NumpyRandom::Int(uint32_t low, uint32_t high) {
  ORDO_CHECK(low < high) << "no number from " << low << " to below " << high;
  const uint32_t largest = high - 1 - low;
  uint32_t mask = largest;
  for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
  uint32_t drawn = Bits() & mask;
  while (drawn > largest) drawn = Bits() & mask;
  return low + drawn;
}

}  // namespace ordo::model::tasks::passkey
