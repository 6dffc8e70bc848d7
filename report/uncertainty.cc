#include "report/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/json_values.h"

namespace ordo::report {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

// What may be a mean of items. Others, such as the largest length that is done
// well, may have its value by chance.
constexpr const char* kMeans[] = {"acc", "acc_norm",  "error", "exact_match",
                                  "f1",  "grid_mean", "score"};

bool MayBeMean(const std::string& metric) {
  return std::find(std::begin(kMeans), std::end(kMeans), metric) !=
         std::end(kMeans);
}

// Of numbers that were written as text and read again.
constexpr double kTolerance = 1e-9;

struct Mean {
  double value = 0;
  double standard_error = 0;
};

bool IsAbout(double a, double b) {
  return std::fabs(a - b) <= kTolerance * std::max(1.0, std::fabs(b));
}

std::optional<Mean> MeanOf(std::string_view items) {
  // Sum and number of the scores of each unit.
  std::map<std::string, std::pair<double, double>> units;
  double total = 0;
  double num_items = 0;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(items.data(), items.size()), '\n',
                      absl::SkipEmpty())) {
    Struct item;
    if (!base::ReadMessage(std::string(line), base::TextForm::kJson, &item)
             .ok()) {
      return std::nullopt;
    }
    const Value& unit = JsonField(item, "unit");
    const double score = JsonField(item, "score").number_value();
    auto& [sum, number] = units[unit.kind_case() == Value::kStringValue
                                    ? unit.string_value()
                                    : JsonField(item, "id").string_value()];
    sum += score;
    ++number;
    total += score;
    ++num_items;
  }
  if (units.size() < 2) return std::nullopt;
  Mean mean;
  mean.value = total / num_items;
  double squares = 0;
  for (const auto& [unit, scores] : units) {
    const double deviation = scores.first - mean.value * scores.second;
    squares += deviation * deviation;
  }
  const auto num_units = static_cast<double>(units.size());
  mean.standard_error =
      std::sqrt(squares * num_units / (num_units - 1)) / num_items;
  return mean;
}

}  // namespace

void AddItemErrors(std::string_view items, Metrics* metrics) {
  const std::optional<Mean> mean = MeanOf(items);
  if (!mean.has_value()) return;
  for (const auto& [name, value] : metrics->values) {
    if (!MayBeMean(name)) continue;
    if (IsAbout(value, mean->value) || IsAbout(value, 1 - mean->value)) {
      metrics->standard_errors.emplace(name, mean->standard_error);
    }
  }
}

}  // namespace ordo::report
