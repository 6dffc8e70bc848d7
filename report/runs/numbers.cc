#include "report/runs/numbers.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "report/grid.h"
#include "report/json_values.h"
#include "report/metrics.h"
#include "report/table.h"

namespace ordo::report::runs {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

Value NumbersByName(const std::map<std::string, double>& numbers) {
  Struct json;
  for (const auto& [name, number] : numbers) {
    (*json.mutable_fields())[name] = NumberOrNull(number);
  }
  return StructValue(std::move(json));
}

void SetSource(const FigureSource& source, Struct* json) {
  if (source.models.empty()) return;
  auto& fields = *json->mutable_fields();
  fields["checkpoint"] = TextValue(source.models.front().name);
  fields["checkpoint_sha256"] =
      TextValue(source.models.front().checkpoint_sha256);
}

Value MetricsValue(const Evaluated& evaluated) {
  const Metrics& metrics = evaluated.metrics;
  Struct json;
  SetSource(evaluated.source, &json);
  auto& fields = *json.mutable_fields();
  fields["model"] = TextValue(metrics.model);
  fields["step"] = NumberOrNull(static_cast<double>(metrics.step));
  fields["evaluation"] = TextValue(metrics.evaluation);
  fields["task"] = TextValue(metrics.task);
  if (!metrics.tokenizer.empty()) {
    fields["tokenizer"] = TextValue(metrics.tokenizer);
  }
  fields["metrics"] = NumbersByName(metrics.values);
  if (!metrics.standard_errors.empty()) {
    fields["standard_errors"] = NumbersByName(metrics.standard_errors);
  }
  return StructValue(std::move(json));
}

void SetShare(const std::string& name, const GridScore& score, Struct* json) {
  if (score.samples == 0) return;
  Struct share;
  auto& fields = *share.mutable_fields();
  fields["right"] = NumberOrNull(static_cast<double>(score.right));
  fields["samples"] = NumberOrNull(static_cast<double>(score.samples));
  fields["value"] = NumberOrNull(score.share.value);
  fields["low"] = NumberOrNull(score.share.low);
  fields["high"] = NumberOrNull(score.share.high);
  (*json->mutable_fields())[name] = StructValue(std::move(share));
}

// Of one with a grid.
Value ModelValue(const Evaluated& evaluated) {
  const Grid& grid = *evaluated.grid;
  const GridSummary summary = Summarize(grid);
  Struct json;
  SetSource(evaluated.source, &json);
  auto& fields = *json.mutable_fields();
  fields["name"] = TextValue(grid.name);
  fields["encoding"] = TextValue(evaluated.encoding);
  fields["step"] = NumberOrNull(static_cast<double>(grid.step));
  fields["longest_95"] = NumberOrNull(summary.largest_95);
  SetShare("all", summary.all, &json);
  SetShare("trained", summary.trained, &json);
  SetShare("longer", summary.outside, &json);
  SetShare("equal", summary.diagonal, &json);
  return StructValue(std::move(json));
}

Value TrainedValue(const Trained& trained) {
  Struct json;
  SetSource(trained.source, &json);
  auto& fields = *json.mutable_fields();
  fields["model"] = TextValue(trained.model);
  const auto& [step, loss] = *trained.losses.rbegin();
  fields["step"] = NumberOrNull(static_cast<double>(step));
  fields["loss"] = NumberOrNull(loss);
  if (!trained.tokenizer.empty()) {
    fields["tokenizer"] = TextValue(trained.tokenizer);
  }
  return StructValue(std::move(json));
}

}  // namespace

Struct ToJson(const Runs& runs) {
  std::vector<Evaluated> with_grid;
  for (const Evaluated& each : runs.evaluations) {
    if (each.grid.has_value()) with_grid.push_back(each);
  }
  std::vector<Trained> with_losses;
  for (const Trained& each : runs.trained) {
    if (!each.losses.empty()) with_losses.push_back(each);
  }
  Struct json;
  auto& fields = *json.mutable_fields();
  fields["evaluations"] = ListOf(runs.evaluations, MetricsValue);
  fields["models"] = ListOf(with_grid, ModelValue);
  fields["training"] = ListOf(with_losses, TrainedValue);
  if (!runs.notices.empty())
    fields["notices"] = ListOf(runs.notices, TextValue);
  return json;
}

std::string MetricsCsv(const Runs& runs) {
  std::vector<Metrics> metrics;
  for (const Evaluated& each : runs.evaluations) {
    metrics.push_back(each.metrics);
  }
  return ToCsv(MetricsTable(metrics));
}

std::string LossesCsv(const Runs& runs) {
  Table table;
  table.header = {"model", "step", "loss"};
  for (const Trained& each : runs.trained) {
    for (const auto& [step, loss] : each.losses) {
      table.rows.push_back({each.model, absl::StrCat(step), ExactText(loss)});
    }
  }
  return table.rows.empty() ? "" : ToCsv(table);
}

}  // namespace ordo::report::runs
