#ifndef ORDO_SCHEDULER_CORE_BOX_H_
#define ORDO_SCHEDULER_CORE_BOX_H_

#include <memory>
#include <utility>

namespace ordo::scheduler::core {

// A value that lies elsewhere, so that what holds it is small. Copied with it.
template <typename T>
class Box {
 public:
  Box(T value)  // NOLINT: reads as the value.
      : value_(std::make_unique<T>(std::move(value))) {}
  Box(const Box& other) : Box(*other) {}
  Box(Box&&) noexcept = default;
  Box& operator=(Box other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }

 private:
  // Null only when moved from.
  std::unique_ptr<T> value_;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_BOX_H_
