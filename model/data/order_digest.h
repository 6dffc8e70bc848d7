#ifndef ORDO_MODEL_DATA_ORDER_DIGEST_H_
#define ORDO_MODEL_DATA_ORDER_DIGEST_H_

#include <string>
#include <vector>

#include "model/tasks/task.h"

namespace ordo::model::data {

// A digest of the rows that a run was trained on, in their order: what the
// model read and what it should have said there. Runs that saw the same have
// the same, however the rows are divided into batches, passes and ranks. Not
// thread-safe.
class OrderDigest {
 public:
  // Before the first row.
  static std::string OfNoRows();

  // Takes up the next row, of two tokens at least; its digest is not made yet.
  void Add(const tasks::Sample& row);

  // What `before` becomes with the rows that were taken up: for each in turn
  // the lower-case hex SHA-256 over the digest so far and the row.
  std::string After(std::string before) const;

 private:
  // Each row as bytes.
  std::vector<std::string> rows_;
};

}  // namespace ordo::model::data

#endif  // ORDO_MODEL_DATA_ORDER_DIGEST_H_
