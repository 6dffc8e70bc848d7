#include "report/lengths.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
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
// Of rows, beside their share: what its uncertainty is known by.
constexpr char kStandardError[] = "standard_error";
constexpr char kUnits[] = "units";
// Of a digest, for people.
constexpr size_t kShownDigits = 12;

bool IsOfError(const std::string& name) {
  return name == kStandardError || name == kUnits;
}

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

// What a row says of the uncertainty of its share; nothing where it does not.
// `items` is the name of its number of items.
absl::StatusOr<std::optional<SampledShare>> Sampled(const Struct& row,
                                                    const std::string& field,
                                                    const char* items) {
  SampledShare share;
  if (JsonField(row, kStandardError).kind_case() == Value::KIND_NOT_SET) {
    return std::nullopt;
  }
  ORDO_ASSIGN_OR_RETURN(share.standard_error,
                        Number(JsonField(row, kStandardError),
                               absl::StrCat(field, ".", kStandardError)));
  ORDO_ASSIGN_OR_RETURN(share.units, Number(JsonField(row, kUnits),
                                            absl::StrCat(field, ".", kUnits)));
  ORDO_ASSIGN_OR_RETURN(share.items, Number(JsonField(row, items),
                                            absl::StrCat(field, ".", items)));
  if (share.standard_error < 0 || share.units < 2 ||
      share.items < share.units) {
    return base::InvalidField(
        field, "must have two units or more, as many items, and an error");
  }
  return share;
}

// Takes how many items a length has from its row; nothing where it does not
// say.
void SetNumItems(int64_t length, const Value& number, Lengths* lengths) {
  const auto num_items = Length(number, "items");
  if (num_items.ok() && *num_items > 0) lengths->num_items[length] = *num_items;
}

// Sets an error at a length, with its interval where it is sampled.
void SetError(int64_t length, double error, std::optional<SampledShare> sampled,
              Lengths* lengths) {
  lengths->values[length] = error;
  if (!sampled.has_value()) return;
  // One less a mean may be rounded past 0.
  sampled->value = std::min(std::max(error, 0.0), 1.0);
  lengths->intervals[length] = SampledInterval(*sampled);
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
    int num_fields = 0;
    for (const auto& [name, value] : row.fields()) {
      if (IsOfError(name)) continue;
      ++num_fields;
      if (name == "count" || name == "total") continue;
      is_error = is_error || name == "error";
      if (name == "error" || name == "exact_match" || name == "accuracy") {
        share = &value;
      } else {
        by = name;
      }
    }
    if (share == nullptr || num_fields != 4) {
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
    ORDO_ASSIGN_OR_RETURN(const auto sampled, Sampled(row, field, "total"));
    SetError(length, is_error ? value : 1 - value, sampled, lengths);
    SetNumItems(length, JsonField(row, "total"), lengths);
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
      if (name != "error" && name != "items" && !IsOfError(name)) by = name;
    }
    ORDO_ASSIGN_OR_RETURN(const int64_t length,
                          Length(JsonField(row, by), field + "." + by));
    lengths->by = by;
    const Value& error = JsonField(row, "error");
    if (IsNull(error)) {
      lengths->left_out.insert(length);
      continue;
    }
    ORDO_ASSIGN_OR_RETURN(const double value, Number(error, field + ".error"));
    ORDO_ASSIGN_OR_RETURN(const auto sampled, Sampled(row, field, "items"));
    SetError(length, value, sampled, lengths);
    SetNumItems(length, JsonField(row, "items"), lengths);
  }
  return absl::OkStatus();
}

// Nothing where the text of what was scored is not known.
void AddBitsPerByte(int64_t length, const Struct& row, Lengths* lengths) {
  const Value& bits = JsonField(row, kBitsPerByte);
  if (bits.kind_case() != Value::kNumberValue) return;
  const double value = bits.number_value();
  const Value& error =
      JsonField(row, absl::StrCat(kBitsPerByte, "_standard_error"));
  if (error.kind_case() != Value::kNumberValue) {
    lengths->bits_per_byte[length] = {value, NAN, NAN};
    return;
  }
  const double half = kNormal95 * error.number_value();
  lengths->bits_per_byte[length] = {value, value - half, value + half};
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
    ORDO_ASSIGN_OR_RETURN(const double value,
                          Number(perplexity, field + ".perplexity"));
    lengths->values[length] = value;
    SetNumItems(length, JsonField(row, "windows"), lengths);
    AddBitsPerByte(length, row, lengths);
    const Value& error = JsonField(row, "perplexity_standard_error");
    // Reports of earlier releases have none.
    if (error.kind_case() != Value::kNumberValue || !(value > 0)) continue;
    // Of the nats for each token, whose exponential this is.
    const double factor = std::exp(kNormal95 * error.number_value() / value);
    lengths->intervals[length] = {value, value / factor, value * factor};
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
  const Value& samples = JsonField(result, "samples");
  int64_t num_samples = 0;
  if (samples.kind_case() != Value::KIND_NOT_SET) {
    ORDO_ASSIGN_OR_RETURN(num_samples, Length(samples, "samples"));
  }
  for (int i = 0; i < rows.values_size(); ++i) {
    const ListValue& row = rows.values(i).list_value();
    if (i >= row.values_size()) break;
    ORDO_ASSIGN_OR_RETURN(
        const double right,
        Number(row.values(i), absl::StrCat("cells[", i, "][", i, "]")));
    lengths->values[i + 1] = 1 - right;
    const auto num_wrong = static_cast<int64_t>(
        std::llround((1 - right) * static_cast<double>(num_samples)));
    if (num_samples > 0 && num_wrong >= 0 && num_wrong <= num_samples) {
      lengths->intervals[i + 1] = WilsonInterval(num_wrong, num_samples);
    }
  }
  return absl::OkStatus();
}

// The items of one length.
struct RecallSums {
  double recall = 0;
  double items = 0;
  double units = 0;
  // Of the sum of recalls; nothing once a cell does not tell.
  std::optional<double> variance = 0;
};

// Cells by a length and something else: their mean, by items. Units are of one
// cell each.
absl::Status ReadRecall(const ListValue& cells, Lengths* lengths) {
  lengths->by = "length";
  lengths->score = "error";
  std::map<int64_t, RecallSums> sums;
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
    ORDO_ASSIGN_OR_RETURN(const auto sampled, Sampled(cell, field, "items"));
    RecallSums& sum = sums[length];
    sum.recall += recall * items;
    sum.items += items;
    if (!sampled.has_value()) {
      sum.variance.reset();
      continue;
    }
    sum.units += sampled->units;
    if (sum.variance.has_value()) {
      const double error = items * sampled->standard_error;
      *sum.variance += error * error;
    }
  }
  for (const auto& [length, sum] : sums) {
    std::optional<SampledShare> sampled;
    if (sum.variance.has_value()) {
      sampled = {0, std::sqrt(*sum.variance) / sum.items, sum.units, sum.items};
    }
    SetError(length, 1 - sum.recall / sum.items, sampled, lengths);
  }
  return absl::OkStatus();
}

// "sp.model 0123456789ab with 8000 tokens"; empty where it has no name. Bytes
// are the same everywhere.
std::string TokenizerOf(const Struct& result) {
  const std::string& name = JsonField(result, "tokenizer").string_value();
  if (name.empty()) return "";
  const std::string& digest =
      JsonField(result, "tokenizer_sha256").string_value();
  const bool is_file = name != "bytes" && !digest.empty();
  return absl::StrCat(
      name, is_file ? " " : "", is_file ? digest.substr(0, kShownDigits) : "",
      " with ", JsonField(result, "vocabulary_size").number_value(), " tokens");
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
  lengths.tokenizer = TokenizerOf(result);
  if (lengths.values.empty()) return lengths;
  ORDO_ASSIGN_OR_RETURN(lengths.trained, Trained(result));
  return lengths;
}

Lengths InBitsPerByte(Lengths lengths) {
  const bool is_whole = lengths.bits_per_byte.size() == lengths.values.size();
  lengths.score = kBitsPerByte;
  lengths.values.clear();
  lengths.intervals.clear();
  if (!is_whole) return lengths;
  for (const auto& [length, bits] : lengths.bits_per_byte) {
    lengths.values[length] = bits.value;
    if (std::isfinite(bits.low)) lengths.intervals[length] = bits;
  }
  return lengths;
}

}  // namespace ordo::report
