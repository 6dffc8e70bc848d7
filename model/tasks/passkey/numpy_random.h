#ifndef ORDO_MODEL_TASKS_PASSKEY_NUMPY_RANDOM_H_
#define ORDO_MODEL_TASKS_PASSKEY_NUMPY_RANDOM_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace ordo::model::tasks::passkey {

// The numbers of NumPy's legacy generator, for questions that were published
// with them; whatever else is random comes from base/random. Not thread-safe.
// MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998).
class NumpyRandom {
 public:
  // As numpy.random.seed.
  explicit NumpyRandom(uint32_t seed);

  // The generator's next 32 bits.
  uint32_t Bits();
  // As numpy.random.randint: uniform in [low, high). REQUIRES: low < high.
  uint32_t Int(uint32_t low, uint32_t high);

 private:
  static constexpr size_t kWords = 624;

  void Refill();

  std::array<uint32_t, kWords> words_;
  size_t next_ = kWords;
};

}  // namespace ordo::model::tasks::passkey

#endif  // ORDO_MODEL_TASKS_PASSKEY_NUMPY_RANDOM_H_
