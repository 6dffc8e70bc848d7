#include "report/metrics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ordo::report {

std::string MetricText(double value) { return absl::StrFormat("%.9g", value); }

Table MetricsTable(const std::vector<Metrics>& all) {
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

}  // namespace ordo::report
