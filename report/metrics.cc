#include "report/metrics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "report/table.h"

namespace ordo::report {
namespace {

Table TableOf(const std::vector<Metrics>& all) {
  Table table;
  table.num_text_columns = 5;
  table.header = {"model", "step", "evaluation", "task", "metric", "value"};
  for (const Metrics& one : all) {
    for (const auto& [name, value] : one.values) {
      table.rows.push_back({one.model, absl::StrCat(one.step), one.evaluation,
                            one.task, name, MetricText(value)});
    }
  }
  return table;
}

}  // namespace

std::string MetricText(double value) { return absl::StrFormat("%.9g", value); }

std::string MetricsCsv(const std::vector<Metrics>& all) {
  return ToCsv(TableOf(all));
}

std::string MetricsMarkdown(const std::vector<Metrics>& all) {
  return ToMarkdown(TableOf(all));
}

}  // namespace ordo::report
