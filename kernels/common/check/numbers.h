#ifndef ORDO_KERNELS_COMMON_CHECK_NUMBERS_H_
#define ORDO_KERNELS_COMMON_CHECK_NUMBERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/common/device_memory.h"
#include "kernels/common/resources.h"
#include "kernels/common/type.h"

// Numbers for the tests of kernels.

namespace ordo::kernels::check {

// A number of a type of 16 bits, rounded to it, ties to even; and back.
uint16_t HalfBits(Type type, float x);
float FromHalfBits(Type type, uint16_t bits);

// Rounded to the type, ties to even.
double Rounded(Type type, double x);

// The distance between 1 and the next number of the type.
double Epsilon(Type type);

// Standard normal, rounded to the type.
std::vector<double> Normals(int64_t count, const std::string& name, Type type);

// The largest absolute value; 0 of none.
double Largest(const std::vector<double>& x);

// The largest absolute difference; infinite where the sizes differ or a number
// is none.
double Distance(const std::vector<double>& x, const std::vector<double>& y);

// Where kernels find the memory that is made from now on; null: the host's.
void UseMemory(const DeviceMemory* memory);

// Whether there was too little of it since then. No kernel may run on what was
// made of none.
bool LacksMemory();

// What a run says that did not begin for it.
inline constexpr char kNoMemory[] = "the device has too little free memory";

template <typename Number>
std::vector<char> BytesOf(const std::vector<Number>& numbers) {
  const auto* const begin = reinterpret_cast<const char*>(numbers.data());
  return {begin, begin + numbers.size() * sizeof(Number)};
}

// Bytes that a kernel reads and writes.
class Placed {
 public:
  explicit Placed(std::vector<char> bytes);
  ~Placed();
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  // As the kernel sees them, aligned to 64 bytes; null: see LacksMemory.
  char* data() { return data_; }
  // As they are now.
  std::vector<char> Fetch() const;

 private:
  const DeviceMemory* const memory_;
  const int64_t count_;
  // Where the memory is the host's.
  std::vector<char> own_;
  char* data_;
};

// Numbers in memory as the type, among canaries, which stand in place of those
// that a kernel writes, too.
class Guarded {
 public:
  Guarded(Type type, const std::vector<double>& x);
  // For `count` numbers that a kernel writes.
  Guarded(Type type, int64_t count);

  // Null where there are no numbers.
  void* data();
  float* floats() { return static_cast<float*>(data()); }
  std::vector<double> Values() const;
  // Whether nobody wrote in front of or behind the numbers.
  bool IsIntact() const;
  // Whether nobody wrote to the numbers either.
  bool IsAsMade() const;

 private:
  Guarded(Type type, int64_t count, std::vector<char> bytes);

  const Type type_;
  const int64_t count_;
  const std::vector<char> made_;
  Placed bytes_;
};

// A workspace and threads; reading what nobody wrote gives not-a-numbers.
class TestResources {
 public:
  TestResources(int64_t workspace_bytes, int threads);
  const Resources& get() const { return resources_; }
  // Whether nobody wrote in front of or behind the workspace.
  bool IsIntact() const;

 private:
  const int64_t bytes_;
  Placed memory_;
  Resources resources_;
};

}  // namespace ordo::kernels::check

#endif  // ORDO_KERNELS_COMMON_CHECK_NUMBERS_H_
