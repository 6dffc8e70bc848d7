#include "scheduler/store/damage.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ordo::scheduler::store {
namespace {

constexpr size_t kMaxNamed = 20;

}  // namespace

void Damage::Add(const std::string& table, const std::string& key) {
  ++num_rows_;
  if (rows_.size() < kMaxNamed) {
    rows_.push_back(absl::StrCat("table ", table, ", ", key));
  }
}

std::string Damage::text() const {
  return absl::StrCat(
      "wrong rows: ", num_rows_, " (", absl::StrJoin(rows_, "; "),
      num_rows_ > static_cast<int>(rows_.size()) ? "; ..." : "", ")");
}

absl::Status Damage::status() const {
  if (empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "store ", path_, " is damaged and was left as it is; ", text(),
      "; restore it from a copy: ordo-scheduler restore FILE"));
}

std::vector<absl::Status> Damage::each() const {
  std::vector<absl::Status> statuses;
  for (const std::string& row : rows_) {
    Damage one(path_);
    one.num_rows_ = 1;
    one.rows_ = {row};
    statuses.push_back(one.status());
  }
  return statuses;
}

}  // namespace ordo::scheduler::store
