#include "report/metrics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace ordo::report {
namespace {

std::string CsvText(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string MarkdownText(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}});
}

}  // namespace

std::string MetricText(double value) { return absl::StrFormat("%.9g", value); }

std::string MetricsCsv(const std::vector<Metrics>& all) {
  std::string text = "model,step,evaluation,task,metric,value\n";
  for (const Metrics& one : all) {
    for (const auto& [name, value] : one.values) {
      absl::StrAppend(&text, CsvText(one.model), ",", one.step, ",",
                      CsvText(one.evaluation), ",", CsvText(one.task), ",",
                      CsvText(name), ",", MetricText(value), "\n");
    }
  }
  return text;
}

std::string MetricsMarkdown(const std::vector<Metrics>& all) {
  std::string text =
      "|model|step|evaluation|task|metric|value|\n|---|--:|---|---|---|--:|\n";
  for (const Metrics& one : all) {
    for (const auto& [name, value] : one.values) {
      absl::StrAppend(&text, "|", MarkdownText(one.model), "|", one.step, "|",
                      MarkdownText(one.evaluation), "|", MarkdownText(one.task),
                      "|", MarkdownText(name), "|", MetricText(value), "|\n");
    }
  }
  return text;
}

}  // namespace ordo::report
