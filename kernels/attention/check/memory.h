#ifndef ORDO_KERNELS_ATTENTION_CHECK_MEMORY_H_
#define ORDO_KERNELS_ATTENTION_CHECK_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention/problem.h"
#include "kernels/common/device_memory.h"

// The memory that a kernel gets of a test: tensors and workspaces among
// canaries, on the kernel's device.

namespace ordo::kernels::attention::check {

// Copies of buffers on a device, if there is one.
class Copies {
 public:
  // Null: kernels see the buffers themselves.
  explicit Copies(const DeviceMemory* device) : device_(device) {}
  ~Copies();
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // Where the device sees the buffer.
  void* Place(void* here, size_t bytes);
  template <typename Element>
  Element* Place(std::vector<Element>* here) {
    return static_cast<Element*>(
        Place(here->data(), here->size() * sizeof(Element)));
  }

  // What went wrong.
  const std::string& error() const { return error_; }

  // Brings all buffers back. What went wrong.
  std::string Fetch();

 private:
  struct Copy {
    void* here;
    void* there;
    int64_t bytes;
  };

  void Note(const char* error);

  const DeviceMemory* device_;
  std::vector<Copy> copies_;
  std::string error_;
};

// A tensor [batch, heads, tokens, width] with tokens before heads in memory, as
// a projection leaves it, among canaries; not a number until it is set.
class Guarded {
 public:
  // `gap` elements between its rows.
  Guarded(std::string name, Type type, const Shape& shape, int64_t gap);
  ~Guarded();
  Guarded(Guarded&&) = default;
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // As the device sees it. The address sanitizer does not let anybody read what
  // is before and behind it.
  View Place(Copies* copies);

  void Set(const std::vector<double>& values);

  // The values; adds its name to `touched` if bytes between rows have changed.
  std::vector<double> Get(std::string* touched);

  // Adds its name if any byte has changed since it was set; not if it was not.
  void AddIfChanged(std::string* changed);

 private:
  int64_t size() const { return type_ == Type::kFloat32 ? 4 : 2; }

  void Allow();

  template <typename Function>
  void ForEach(const Function& function);

  std::string name_;
  Type type_;
  Shape shape_;
  // Elements between rows.
  int64_t gap_;
  View view_;
  std::vector<uint8_t> bytes_;
  // As they were set.
  std::vector<uint8_t> given_;
};

// A workspace between canaries; reading what nobody wrote gives not-a-numbers.
class WorkMemory {
 public:
  explicit WorkMemory(int64_t bytes);

  // As the device sees it, at a multiple of 64 bytes.
  void* Place(Copies* copies);
  bool IsIntact();

 private:
  // The canaries in front.
  uint8_t* begin();

  const int64_t bytes_;
  std::vector<uint8_t> memory_;
};

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_MEMORY_H_
