#ifndef ORDO_SCHEDULER_STORE_CHECKSUM_H_
#define ORDO_SCHEDULER_STORE_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ordo::scheduler::store {

// The checksum that each row of a store's file carries: the CRC32C of its
// table, its key and all its values, so that a row under another key or in
// another table is found too. Numbers count as eight bytes, little endian;
// before text stand its bytes, as such a number.
class Checksum {
 public:
  explicit Checksum(std::string_view table) {
    bytes_.reserve(kUsualBytes);
    Add(table);
  }

  Checksum& Add(int64_t number);
  Checksum& Add(std::string_view text);
  uint32_t value() const;

 private:
  // Most rows have no more.
  static constexpr size_t kUsualBytes = 1024;

  std::string bytes_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_CHECKSUM_H_
