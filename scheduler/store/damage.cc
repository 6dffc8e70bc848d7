#include "scheduler/store/damage.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ordo::scheduler::store {
namespace {

constexpr size_t kMaxNamed = 20;

}  // namespace

std::string Origin::name() const {
  return absl::StrCat(is_copy ? "copy " : "store ", path);
}

std::string Origin::advice() const {
  return is_copy ? "take another copy"
                 : "restore it from a copy: ordo-scheduler restore FILE";
}

std::string RowName(const std::string& table, const std::string& key) {
  return absl::StrCat("table ", table, ", ", key);
}

void Damage::AddRow(std::string row) {
  ++num_rows_;
  if (rows_.size() < kMaxNamed) rows_.push_back(std::move(row));
}

void Damage::Add(const Damage& other) {
  const int num_unnamed =
      other.num_rows_ - static_cast<int>(other.rows_.size());
  for (const std::string& row : other.rows_) AddRow(row);
  num_rows_ += num_unnamed;
}

std::string Damage::text() const {
  return absl::StrCat(
      "wrong rows: ", num_rows_, " (", absl::StrJoin(rows_, "; "),
      num_rows_ > static_cast<int>(rows_.size()) ? "; ..." : "", ")");
}

absl::Status Damage::status() const {
  if (empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(origin_.name(),
                                          " is damaged and was left as it is; ",
                                          text(), "; ", origin_.advice()));
}

std::vector<absl::Status> Damage::each() const {
  std::vector<absl::Status> statuses;
  for (const std::string& row : rows_) {
    Damage one(origin_);
    one.num_rows_ = 1;
    one.rows_ = {row};
    statuses.push_back(one.status());
  }
  return statuses;
}

}  // namespace ordo::scheduler::store
