#ifndef ORDO_BASE_RANDOM_RANDOM_H_
#define ORDO_BASE_RANDOM_RANDOM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

// Counter-based random numbers: value i of a stream is a pure function of
// (seed, stream name, i), so a part that draws more changes nothing elsewhere
// and a run that resumes needs to store no generator state. Nothing here uses
// std::*_distribution, whose results differ between standard libraries.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC11; the function Philox4x32-10.
//
// Integers and uniform floats are exact on every machine. Normals go through
// log, sqrt, cos and sin of the C library in double precision: they are equal
// for the same libm, and may differ in the last bits between versions of it.

namespace ordo::base {

using PhiloxBlock = std::array<uint32_t, 4>;

// The ten-round Philox bijection of `counter` under `key`.
PhiloxBlock Philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key);

// Random access to one stream. Small, immutable, thread-safe, copied freely.
// Names in use: "init/<parameter>", "data/<index>", "dropout/<step>",
// "input_noise/<step>", "input_noise/evaluation", "positions/<step>",
// "positions/evaluation", "order/<epoch>", "source/<name>", "held_out",
// "slice/<sample>", "answer/<item>".
// Each draw below takes one block of 128 bits, that of its index;
// so draws at different indices are independent, and draws of different kinds
// at the same index are not. The Fill calls pack: they take ceil(count / 4)
// floats or ceil(count / 2) normals from block `index` on.
class RandomStream {
 public:
  // The key is the seed; the upper half of the counter is the FNV-1a hash (64
  // bits) of the name, the lower half the index.
  RandomStream(uint64_t seed, std::string_view name);

  PhiloxBlock Block(uint64_t index) const;

  // 64 uniform bits.
  uint64_t Bits(uint64_t index) const;

  // Uniform in [0, n), n > 0. The 128 bits are scaled rather than reduced
  // modulo n: no value is favoured by more than 2^-64 relative.
  uint64_t Int(uint64_t index, uint64_t n) const;

  // Uniform in [0, 1): a multiple of 2^-24.
  float Float(uint64_t index) const;

  // Uniform in [0, 1): a multiple of 2^-53.
  double Double(uint64_t index) const;

  // Standard normal (Box and Muller 1958; the cosine branch).
  double Normal(uint64_t index) const;

  // out[i] = uniform float in [0, 1), word i % 4 of block index + i / 4.
  void FillFloats(uint64_t index, float* out, size_t count) const;

  // out[i] = standard normal, the cosine (i even) or sine (i odd) branch of
  // block index + i / 2.
  void FillNormals(uint64_t index, double* out, size_t count) const;

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 2> name_hash_;
};

// Draws from a stream one after the other. Not thread-safe.
class RandomSequence {
 public:
  RandomSequence(uint64_t seed, std::string_view name, uint64_t index = 0)
      : stream_(seed, name), index_(index) {}

  uint64_t Bits() { return stream_.Bits(index_++); }
  uint64_t Int(uint64_t n) { return stream_.Int(index_++, n); }
  float Float() { return stream_.Float(index_++); }
  double Double() { return stream_.Double(index_++); }
  double Normal() { return stream_.Normal(index_++); }

  // All orders equally likely (Fisher and Yates, from the back).
  template <typename T>
  void Shuffle(std::vector<T>* values) {
    for (size_t i = values->size(); i > 1; --i) {
      std::swap((*values)[i - 1], (*values)[Int(i)]);
    }
  }

  // The numbers 0 .. n-1 in random order.
  std::vector<uint64_t> Permutation(uint64_t n);

  // Index of the next draw: pass it to the constructor to go on from here.
  uint64_t index() const { return index_; }

 private:
  RandomStream stream_;
  uint64_t index_;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_RANDOM_RANDOM_H_
