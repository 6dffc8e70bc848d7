#ifndef ORDO_SCHEDULER_CORE_SPARSE_VECTOR_H_
#define ORDO_SCHEDULER_CORE_SPARSE_VECTOR_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace ordo::scheduler::core {

// A vector that is nearly always empty, and then takes a pointer's room in what
// there are a million of. Copied as a vector is.
template <typename T>
class SparseVector {
 public:
  SparseVector() = default;
  SparseVector(const SparseVector& other) { *this = other.value(); }
  SparseVector(SparseVector&&) noexcept = default;
  SparseVector& operator=(const SparseVector& other) {
    return *this = other.value();
  }
  SparseVector& operator=(SparseVector&&) noexcept = default;
  SparseVector& operator=(std::vector<T> value) {
    value_ = value.empty() ? nullptr
                           : std::make_unique<std::vector<T>>(std::move(value));
    return *this;
  }
  ~SparseVector() = default;

  void push_back(T element) {
    if (value_ == nullptr) value_ = std::make_unique<std::vector<T>>();
    value_->push_back(std::move(element));
  }

  const std::vector<T>& value() const {
    static const std::vector<T>& empty = *new std::vector<T>();
    return value_ == nullptr ? empty : *value_;
  }
  bool empty() const { return value_ == nullptr; }
  size_t size() const { return value().size(); }
  const T& operator[](size_t i) const { return value()[i]; }
  auto begin() const { return value().begin(); }
  auto end() const { return value().end(); }

 private:
  // Null: empty.
  std::unique_ptr<std::vector<T>> value_;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SPARSE_VECTOR_H_
