#ifndef ORDO_SCHEDULER_STORE_DAMAGE_H_
#define ORDO_SCHEDULER_STORE_DAMAGE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace ordo::scheduler::store {

// What is read, as messages call it when it is damaged.
struct Origin {
  std::string path;
  // Of a store, which is to take its place.
  bool is_copy = false;

  // "store <path>", or "copy <path>".
  std::string name() const;
  // What to do then.
  std::string advice() const;
};

// "table <table>, <key>". `key`: a column and its value, such as "sequence 7".
std::string RowName(const std::string& table, const std::string& key);

// Damaged rows that were found while a file was read.
class Damage {
 public:
  explicit Damage(Origin origin) : origin_(std::move(origin)) {}

  // As of RowName.
  void Add(const std::string& table, const std::string& key) {
    AddRow(RowName(table, key));
  }
  // All of another.
  void Add(const Damage& other);
  // By what RowName gave.
  void AddRow(std::string row);
  bool empty() const { return num_rows_ == 0; }
  // How many, and the first twenty by table and key.
  std::string text() const;
  // DATA_LOSS with the text, or OK when there are none.
  absl::Status status() const;
  // DATA_LOSS for each of the first twenty; that of a row is always the same.
  std::vector<absl::Status> each() const;

 private:
  Origin origin_;
  int num_rows_ = 0;
  std::vector<std::string> rows_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_DAMAGE_H_
