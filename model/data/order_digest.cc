#include "model/data/order_digest.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/digest/digest.h"

namespace ordo::model::data {
namespace {

// Four bytes, little-endian whatever the machine; the place behind them.
char* Put(int64_t value, char* place) {
  ORDO_CHECK(value >= 0 && value <= int64_t{UINT32_MAX});
  const auto word = static_cast<uint32_t>(value);
  place[0] = static_cast<char>(word);
  place[1] = static_cast<char>(word >> 8);
  place[2] = static_cast<char>(word >> 16);
  place[3] = static_cast<char>(word >> 24);
  return place + 4;
}

}  // namespace

std::string OrderDigest::OfNoRows() { return base::Sha256Hex(""); }

void OrderDigest::Add(const tasks::Sample& row) {
  const auto& said = row.targets.empty() ? row.tokens : row.targets;
  // The last is not read, and nothing predicts the first.
  const size_t num_read = row.tokens.size() - 1;
  std::string bytes(8 * num_read, '\0');
  char* place = bytes.data();
  for (size_t t = 0; t < num_read; ++t) {
    place = Put(row.tokens[t], place);
    place = Put(row.scored[t + 1] == 0 ? 0 : 1 + said[t + 1], place);
  }
  rows_.push_back(std::move(bytes));
}

std::string OrderDigest::After(std::string before) const {
  for (const std::string& row : rows_) {
    base::Sha256 digest;
    digest.Update(before);
    digest.Update(row);
    before = digest.FinishHex();
  }
  return before;
}

}  // namespace ordo::model::data
