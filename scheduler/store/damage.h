#ifndef ORDO_SCHEDULER_STORE_DAMAGE_H_
#define ORDO_SCHEDULER_STORE_DAMAGE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace ordo::scheduler::store {

// Damaged rows that were found while a file was read.
class Damage {
 public:
  // `path` of the store's file.
  explicit Damage(std::string path) : path_(std::move(path)) {}

  // `key`: a column and its value, such as "sequence 7".
  void Add(const std::string& table, const std::string& key);
  bool empty() const { return num_rows_ == 0; }
  // How many, and the first twenty by table and key.
  std::string text() const;
  // DATA_LOSS with the text, or OK when there are none.
  absl::Status status() const;
  // DATA_LOSS for each of the first twenty; that of a row is always the same.
  std::vector<absl::Status> each() const;

 private:
  std::string path_;
  int num_rows_ = 0;
  std::vector<std::string> rows_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_DAMAGE_H_
