#include "model/benchmark/measurement.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"

namespace ordo::model::benchmark {

double Quantile(std::vector<double> samples, double q) {
  ORDO_CHECK(!samples.empty());
  std::sort(samples.begin(), samples.end());
  const double place = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] +
         (place - std::floor(place)) * (samples[above] - samples[below]);
}

Measurement MedianOf(Measurement about, const std::vector<double>& samples) {
  about.value = Quantile(samples, 0.5);
  about.min = *std::min_element(samples.begin(), samples.end());
  about.max = *std::max_element(samples.begin(), samples.end());
  return about;
}

std::string ToJson(const Measurement& measurement) {
  google::protobuf::Struct object;
  auto& fields = *object.mutable_fields();
  fields["benchmark"].set_string_value(measurement.benchmark);
  fields["metric"].set_string_value(measurement.metric);
  fields["value"].set_number_value(measurement.value);
  fields["unit"].set_string_value(measurement.unit);
  auto* params = fields["params"].mutable_struct_value();
  for (const auto& [name, value] : measurement.params) {
    (*params->mutable_fields())[name].set_string_value(value);
  }
  if (!measurement.reference.empty()) {
    fields["reference"].set_string_value(measurement.reference);
  }
  fields["min"].set_number_value(measurement.min);
  fields["max"].set_number_value(measurement.max);
  return base::WriteMessage(object, base::TextForm::kJson);
}

std::string ToTable(const std::vector<Measurement>& measurements) {
  std::string table =
      absl::StrFormat("%-17s %-31s %12s %-10s %-24s %s\n", "BENCHMARK",
                      "METRIC", "VALUE", "UNIT", "MIN..MAX", "OF");
  for (const Measurement& m : measurements) {
    const std::string range = absl::StrFormat("%.4g..%.4g", m.min, m.max);
    std::string of = absl::StrJoin(m.params, " ", absl::PairFormatter("="));
    if (!m.reference.empty()) {
      absl::StrAppend(&of, of.empty() ? "" : " ", "to ", m.reference);
    }
    absl::StrAppend(
        &table,
        absl::StrFormat("%-17s %-31s %12.5g %-10s %-24s %s\n", m.benchmark,
                        m.metric, m.value, m.unit, range, of));
  }
  return table;
}

}  // namespace ordo::model::benchmark
