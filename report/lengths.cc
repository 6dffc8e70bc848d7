#include "report/lengths.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/json_values.h"

namespace ordo::report {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

// Above, a double does not hold every whole number.
constexpr double kMaxLength = 1e15;
constexpr char kMaxPrefix[] = "max_";

bool IsNull(const Value& value) {
  return value.kind_case() == Value::kNullValue;
}

absl::StatusOr<double> Number(const Value& value, const std::string& field) {
  if (value.kind_case() != Value::kNumberValue ||
      !std::isfinite(value.number_value())) {
    return base::InvalidField(field, "must be a finite number");
  }
  return value.number_value();
}

absl::StatusOr<int64_t> Length(const Value& value, const std::string& field) {
  const double number = value.number_value();
  if (value.kind_case() != Value::kNumberValue ||
      number != std::floor(number) || number < 0 || number > kMaxLength) {
    return base::InvalidField(field, "must be a whole number from 0 on");
  }
  return static_cast<int64_t>(number);
}

// Rows such as {"length": 8, "exact_match": 0.5, "count": 10, "total": 20}: the
// number that they go by has the one name that is no other's.
absl::Status ReadShares(const ListValue& rows, Lengths* lengths) {
  lengths->score = "error";
  for (int i = 0; i < rows.values_size(); ++i) {
    const std::string field = absl::StrCat("shares[", i, "]");
    const Struct& row = rows.values(i).struct_value();
    std::string by;
    const Value* share = nullptr;
    bool is_error = false;
    for (const auto& [name, value] : row.fields()) {
      if (name == "count" || name == "total") continue;
      is_error = is_error || name == "error";
      if (name == "error" || name == "exact_match" || name == "accuracy") {
        share = &value;
      } else {
        by = name;
      }
    }
    if (share == nullptr || row.fields_size() != 4) {
      return base::InvalidField(
          field,
          "must have a number, its error, exact_match or accuracy, count and "
          "total");
    }
    ORDO_ASSIGN_OR_RETURN(const int64_t length,
                          Length(JsonField(row, by), field + "." + by));
    lengths->by = by;
    if (IsNull(*share)) {
      lengths->left_out.insert(length);
      continue;
    }
    ORDO_ASSIGN_OR_RETURN(const double value, Number(*share, field));
    lengths->values[length] = is_error ? value : 1 - value;
  }
  return absl::OkStatus();
}

// Rows such as {"pairs": 64, "error": 0.5, "items": 10} of an evaluation that
// was asked for at several lengths; the number has the name that is no other's.
absl::Status ReadByLength(const ListValue& rows, Lengths* lengths) {
  lengths->score = "error";
  for (int i = 0; i < rows.values_size(); ++i) {
    const std::string field = absl::StrCat("by_length[", i, "]");
    const Struct& row = rows.values(i).struct_value();
    std::string by;
    for (const auto& [name, value] : row.fields()) {
      if (name != "error" && name != "items") by = name;
    }
    ORDO_ASSIGN_OR_RETURN(const int64_t length,
                          Length(JsonField(row, by), field + "." + by));
    lengths->by = by;
    const Value& error = JsonField(row, "error");
    if (IsNull(error)) {
      lengths->left_out.insert(length);
      continue;
    }
    ORDO_ASSIGN_OR_RETURN(lengths->values[length],
                          Number(error, field + ".error"));
  }
  return absl::OkStatus();
}

absl::Status ReadPerplexities(const ListValue& rows, Lengths* lengths) {
  lengths->by = "length";
  lengths->score = "perplexity";
  for (int i = 0; i < rows.values_size(); ++i) {
    const std::string field = absl::StrCat("lengths[", i, "]");
    const Struct& row = rows.values(i).struct_value();
    ORDO_ASSIGN_OR_RETURN(const int64_t length,
                          Length(JsonField(row, "length"), field + ".length"));
    const Value& perplexity = JsonField(row, "perplexity");
    if (IsNull(perplexity)) {
      lengths->left_out.insert(length);
      continue;
    }
    ORDO_ASSIGN_OR_RETURN(lengths->values[length],
                          Number(perplexity, field + ".perplexity"));
  }
  return absl::OkStatus();
}

// Cells of two operands: right answers by the length of the first and of the
// second, from 1, each of which has its own kind as in max_digits.
absl::Status ReadDiagonal(const Struct& result, Lengths* lengths) {
  std::set<std::string> kinds;
  for (const auto& [name, value] : result.fields()) {
    absl::string_view kind = name;
    if (absl::ConsumePrefix(&kind, kMaxPrefix)) kinds.emplace(kind);
  }
  lengths->by = absl::StrJoin(kinds, " and ");
  lengths->score = "error";
  const ListValue& rows = JsonField(result, "cells").list_value();
  for (int i = 0; i < rows.values_size(); ++i) {
    const ListValue& row = rows.values(i).list_value();
    if (i >= row.values_size()) break;
    ORDO_ASSIGN_OR_RETURN(
        const double right,
        Number(row.values(i), absl::StrCat("cells[", i, "][", i, "]")));
    lengths->values[i + 1] = 1 - right;
  }
  return absl::OkStatus();
}

// Cells by a length and something else: their mean, by items.
absl::Status ReadRecall(const ListValue& cells, Lengths* lengths) {
  lengths->by = "length";
  lengths->score = "error";
  std::map<int64_t, std::pair<double, double>> sums;
  for (int i = 0; i < cells.values_size(); ++i) {
    const std::string field = absl::StrCat("cells[", i, "]");
    const Struct& cell = cells.values(i).struct_value();
    ORDO_ASSIGN_OR_RETURN(const int64_t length,
                          Length(JsonField(cell, "length"), field + ".length"));
    ORDO_ASSIGN_OR_RETURN(const double recall,
                          Number(JsonField(cell, "recall"), field + ".recall"));
    ORDO_ASSIGN_OR_RETURN(const double items,
                          Number(JsonField(cell, "items"), field + ".items"));
    if (!(items > 0)) continue;
    sums[length].first += recall * items;
    sums[length].second += items;
  }
  for (const auto& [length, sum] : sums) {
    lengths->values[length] = 1 - sum.first / sum.second;
  }
  return absl::OkStatus();
}

// `trained_length`, or the shorter of what two operands were trained on.
absl::StatusOr<int64_t> Trained(const Struct& result) {
  int64_t trained = 0;
  for (const auto& [name, value] : result.fields()) {
    if (!absl::StartsWith(name, "trained_")) continue;
    ORDO_ASSIGN_OR_RETURN(const int64_t length, Length(value, name));
    trained = trained == 0 ? length : std::min(trained, length);
  }
  return trained;
}

}  // namespace

absl::StatusOr<Lengths> ParseLengths(std::string_view json) {
  Struct result;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(json, base::TextForm::kJson, &result));
  Lengths lengths;
  const ListValue& cells = JsonField(result, "cells").list_value();
  if (const auto& several = JsonField(result, "by_length").list_value();
      several.values_size() > 0) {
    ORDO_RETURN_IF_ERROR(ReadByLength(several, &lengths));
  } else if (const auto& rows = JsonField(result, "shares").list_value();
             rows.values_size() > 0) {
    ORDO_RETURN_IF_ERROR(ReadShares(rows, &lengths));
  } else if (const auto& list = JsonField(result, "lengths").list_value();
             list.values_size() > 0) {
    ORDO_RETURN_IF_ERROR(ReadPerplexities(list, &lengths));
  } else if (cells.values_size() > 0) {
    ORDO_RETURN_IF_ERROR(cells.values(0).kind_case() == Value::kListValue
                             ? ReadDiagonal(result, &lengths)
                             : ReadRecall(cells, &lengths));
  }
  if (lengths.values.empty()) return lengths;
  ORDO_ASSIGN_OR_RETURN(lengths.trained, Trained(result));
  return lengths;
}

}  // namespace ordo::report
