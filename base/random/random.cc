#include "base/random/random.h"

#include <cmath>
#include <numeric>

#include "base/check.h"

namespace ordo::base {
namespace {

constexpr int kRounds = 10;
// Multipliers and Weyl constants of the paper's Philox4x32.
constexpr uint32_t kMultiplier0 = 0xD2511F53;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;

constexpr double kTwoPi = 6.283185307179586476925286766559;

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

uint64_t Join(uint32_t low, uint32_t high) {
  return (uint64_t{high} << 32) | low;
}

// FNV-1a with 64 bits.
uint64_t HashName(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return hash;
}

double ToDouble(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// The two normals of a block: Box and Muller's pair from its two halves.
std::pair<double, double> NormalPair(const PhiloxBlock& block) {
  // 1 - u is in (0, 1], so that the logarithm is finite.
  const double u = 1.0 - ToDouble(Join(block[0], block[1]));
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = kTwoPi * ToDouble(Join(block[2], block[3]));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

float ToFloat(uint32_t bits) {
  return static_cast<float>(bits >> 8) * 0x1p-24F;
}

}  // namespace

PhiloxBlock Philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * counter[0];
    const uint64_t product1 = uint64_t{kMultiplier1} * counter[2];
    counter = {High(product1) ^ counter[1] ^ key[0], Low(product1),
               High(product0) ^ counter[3] ^ key[1], Low(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

RandomStream::RandomStream(uint64_t seed, std::string_view name) {
  const uint64_t hash = HashName(name);
  key_ = {Low(seed), High(seed)};
  name_hash_ = {Low(hash), High(hash)};
}

PhiloxBlock RandomStream::Block(uint64_t index) const {
  return Philox4x32({Low(index), High(index), name_hash_[0], name_hash_[1]},
                    key_);
}

uint64_t RandomStream::Bits(uint64_t index) const {
  const PhiloxBlock block = Block(index);
  return Join(block[0], block[1]);
}

uint64_t RandomStream::Int(uint64_t index, uint64_t n) const {
  ORDO_CHECK(n > 0) << "an empty range has no value";
  const PhiloxBlock block = Block(index);
  // floor(x * n / 2^128) for the block's 128-bit number x.
  const auto low = static_cast<unsigned __int128>(Join(block[0], block[1]));
  const auto high = static_cast<unsigned __int128>(Join(block[2], block[3]));
  return static_cast<uint64_t>((high * n + ((low * n) >> 64)) >> 64);
}

float RandomStream::Float(uint64_t index) const {
  return ToFloat(Block(index)[0]);
}

double RandomStream::Double(uint64_t index) const {
  return ToDouble(Bits(index));
}

double RandomStream::Normal(uint64_t index) const {
  return NormalPair(Block(index)).first;
}

void RandomStream::FillFloats(uint64_t index, float* out, size_t count) const {
  for (size_t i = 0; i < count; ++index) {
    const PhiloxBlock block = Block(index);
    for (size_t word = 0; word < 4 && i < count; ++word, ++i) {
      out[i] = ToFloat(block[word]);
    }
  }
}

void RandomStream::FillNormals(uint64_t index, double* out,
                               size_t count) const {
  for (size_t i = 0; i < count; i += 2, ++index) {
    const auto [cosine, sine] = NormalPair(Block(index));
    out[i] = cosine;
    if (i + 1 < count) out[i + 1] = sine;
  }
}

std::vector<uint64_t> RandomSequence::Permutation(uint64_t n) {
  std::vector<uint64_t> order(n);
  std::iota(order.begin(), order.end(), uint64_t{0});
  Shuffle(&order);
  return order;
}

}  // namespace ordo::base
