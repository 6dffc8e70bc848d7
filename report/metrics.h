#ifndef ORDO_REPORT_METRICS_H_
#define ORDO_REPORT_METRICS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/table.h"

namespace ordo::report {

// What one evaluation found of one model, of any task.
struct Metrics {
  // Of the model, for people, such as the job's id.
  std::string model;
  int64_t step = 0;
  std::string evaluation;
  std::string task;
  // By name; fractions of 1 unless the name says otherwise.
  std::map<std::string, double> values;
};

// A metric as it stands in the tables: nine digits at most.
std::string MetricText(double value);

// A row for each metric: model, step, evaluation, task, metric, value.
Table MetricsTable(const std::vector<Metrics>& all);

}  // namespace ordo::report

#endif  // ORDO_REPORT_METRICS_H_
