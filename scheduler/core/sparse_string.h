#ifndef ORDO_SCHEDULER_CORE_SPARSE_STRING_H_
#define ORDO_SCHEDULER_CORE_SPARSE_STRING_H_

#include <memory>
#include <string>
#include <utility>

namespace ordo::scheduler::core {

// A string that is nearly always empty, and then takes a pointer's room in what
// there are a million of. Copied as a string is.
class SparseString {
 public:
  SparseString() = default;
  SparseString(const SparseString& other) { *this = other.value(); }
  SparseString(SparseString&&) noexcept = default;
  SparseString& operator=(SparseString other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  SparseString& operator=(std::string value) {
    value_ = value.empty() ? nullptr
                           : std::make_unique<std::string>(std::move(value));
    return *this;
  }

  const std::string& value() const {
    static const std::string& empty = *new std::string();
    return value_ == nullptr ? empty : *value_;
  }
  bool empty() const { return value_ == nullptr; }
  void clear() { value_ = nullptr; }

 private:
  // Null: empty.
  std::unique_ptr<std::string> value_;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SPARSE_STRING_H_
