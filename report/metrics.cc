#include "report/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/json_values.h"

namespace ordo::report {
namespace {

constexpr char kTextTask[] = "text";

// The whole number that the text begins with, without zeros before it, taken
// off the text; empty: there is none.
std::string_view TakeNumber(std::string_view* text) {
  size_t end = 0;
  while (end < text->size() &&
         absl::ascii_isdigit(static_cast<unsigned char>((*text)[end]))) {
    ++end;
  }
  std::string_view number = text->substr(0, end);
  text->remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return number;
}

// Whether a value is there with a number behind its name as well.
bool IsCopy(const Metrics& metrics, const std::string& name, double value) {
  const std::string beginning = name + "_";
  return std::any_of(
      metrics.values.begin(), metrics.values.end(), [&](const auto& other) {
        uint64_t length = 0;
        return other.second == value &&
               absl::StartsWith(other.first, beginning) &&
               absl::SimpleAtoi(other.first.substr(beginning.size()), &length);
      });
}

constexpr char kStandardErrors[] = "standard_errors";
constexpr char kSampled[] = "sampled";
// Above, a double does not hold every whole number.
constexpr double kMaxItems = 1e15;

// Of ErrorText.
constexpr int kErrorDigits = 3;
constexpr int kDigits = 6;
constexpr int kMaxDigits = 15;

// The place of the first digit: 0 of 1 to 9, -1 of 0.1.
// REQUIRES: finite, not 0.
int FirstPlace(double value) {
  return static_cast<int>(std::floor(std::log10(std::fabs(value))));
}

std::string MetricText(double value) { return absl::StrFormat("%.9g", value); }

bool HasTokenizer(const std::vector<Metrics>& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const Metrics& one) { return !one.tokenizer.empty(); });
}

}  // namespace

absl::StatusOr<std::map<std::string, double>> ParseStandardErrors(
    std::string_view json) {
  google::protobuf::Struct result;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(json, base::TextForm::kJson, &result));
  std::map<std::string, double> errors;
  for (const auto& [name, value] :
       JsonField(result, kStandardErrors).struct_value().fields()) {
    if (value.kind_case() != google::protobuf::Value::kNumberValue ||
        !std::isfinite(value.number_value())) {
      return base::InvalidField(absl::StrCat(kStandardErrors, ".", name),
                                "must be a finite number");
    }
    errors[name] = value.number_value();
  }
  return errors;
}

absl::StatusOr<std::map<std::string, SampleSize>> ParseSampled(
    std::string_view json) {
  google::protobuf::Struct result;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(json, base::TextForm::kJson, &result));
  std::map<std::string, SampleSize> sizes;
  for (const auto& [name, value] :
       JsonField(result, kSampled).struct_value().fields()) {
    const SampleSize size = {
        JsonField(value.struct_value(), "units").number_value(),
        JsonField(value.struct_value(), "items").number_value()};
    if (!(size.units >= 2 && size.items >= size.units)) {
      return base::InvalidField(absl::StrCat(kSampled, ".", name),
                                "must have two units or more, and as many "
                                "items");
    }
    sizes[name] = size;
  }
  return sizes;
}

absl::StatusOr<int64_t> ParseNumItems(std::string_view json) {
  google::protobuf::Struct result;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(json, base::TextForm::kJson, &result));
  const auto& items = JsonField(result, "items");
  if (items.kind_case() == google::protobuf::Value::KIND_NOT_SET) return 0;
  const double number = items.number_value();
  if (items.kind_case() != google::protobuf::Value::kNumberValue ||
      number != std::floor(number) || number < 0 || number > kMaxItems) {
    return base::InvalidField("items", "must be a whole number from 0 on");
  }
  return static_cast<int64_t>(number);
}

std::string ValueText(const Metrics& metrics, const std::string& name) {
  const double value = metrics.values.at(name);
  if (value == 0 || !std::isfinite(value)) return MetricText(value);
  const int first = FirstPlace(value);
  const auto error = metrics.standard_errors.find(name);
  const bool has_error =
      error != metrics.standard_errors.end() && error->second > 0;
  const int digits =
      has_error ? first - FirstPlace(error->second) + kErrorDigits : kDigits;
  return absl::StrFormat(
      "%.*g", std::min(std::max({digits, first + 1, 1}), kMaxDigits), value);
}

bool StandsBefore(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    const std::string_view number_a = TakeNumber(&a);
    const std::string_view number_b = TakeNumber(&b);
    if (number_a.empty() != number_b.empty()) return !number_a.empty();
    if (number_a.size() != number_b.size()) {
      return number_a.size() < number_b.size();
    }
    if (number_a != number_b) return number_a < number_b;
    if (!number_a.empty()) continue;
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  // Numbers with zeros before them are as large as those without.
  return whole_a < whole_b;
}

std::vector<std::pair<std::string, double>> InOrder(
    const std::map<std::string, double>& values) {
  std::vector<std::pair<std::string, double>> ordered(values.begin(),
                                                      values.end());
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return StandsBefore(a.first, b.first);
  });
  return ordered;
}

std::string ErrorText(const Metrics& metrics, const std::string& name) {
  const auto error = metrics.standard_errors.find(name);
  return error == metrics.standard_errors.end()
             ? ""
             : absl::StrFormat("%.*g", kErrorDigits, error->second);
}

std::string ItemsText(const Metrics& metrics, const std::string& name) {
  const auto sampled = metrics.sampled.find(name);
  return sampled == metrics.sampled.end()
             ? ""
             : absl::StrFormat("%.0f", sampled->second.items);
}

Metrics WithoutCopies(Metrics metrics) {
  if (metrics.task != kTextTask) return metrics;
  std::map<std::string, double> values;
  for (const auto& [name, value] : metrics.values) {
    if (!IsCopy(metrics, name, value)) values[name] = value;
  }
  metrics.values = std::move(values);
  return metrics;
}

Table MetricsTable(const std::vector<Metrics>& all) {
  Table table;
  table.num_text_columns = 5;
  table.header = {"model",  "step",  "evaluation",    "task",
                  "metric", "value", "standard error"};
  const bool has_tokenizer = HasTokenizer(all);
  if (has_tokenizer) table.header.push_back("tokenizer");
  for (const Metrics& one : all) {
    for (const auto& [name, value] : InOrder(one.values)) {
      table.rows.push_back({one.model, absl::StrCat(one.step), one.evaluation,
                            one.task, name, MetricText(value),
                            ErrorText(one, name)});
      if (has_tokenizer) table.rows.back().push_back(one.tokenizer);
    }
  }
  return table;
}

Table ScoreTable(const std::vector<Metrics>& all) {
  Table table;
  table.num_text_columns = 5;
  table.header = {"model",  "step",  "evaluation",     "task",
                  "metric", "value", "standard error", "items"};
  const bool has_items =
      std::any_of(all.begin(), all.end(),
                  [](const Metrics& one) { return !one.sampled.empty(); });
  if (has_items) table.note = kAboutItems;
  const bool has_tokenizer = HasTokenizer(all);
  if (has_tokenizer) table.header.push_back("tokenizer");
  for (const Metrics& one : all) {
    for (const auto& [name, value] : InOrder(one.values)) {
      table.rows.push_back({one.model, absl::StrCat(one.step), one.evaluation,
                            one.task, name, ValueText(one, name),
                            ErrorText(one, name), ItemsText(one, name)});
      if (has_tokenizer) table.rows.back().push_back(one.tokenizer);
    }
  }
  return table;
}

}  // namespace ordo::report
