#include "tools/metrics_page/page.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/metrics/certificate_metrics.h"
#include "base/metrics/metrics.h"
#include "base/metrics/process_metrics.h"
#include "base/rpc/rpc_metrics.h"
#include "scheduler/metrics.h"
#include "worker/agent/metrics.h"

namespace ordo::tools::metrics_page {
namespace {

// Reasons are more.
constexpr size_t kMaxValuesShown = 8;

constexpr char kIntroduction[] = R"(# Metrics

What the metrics pages of `ordo-scheduler` and `ordo-worker` show, in the text
format of Prometheus, at `http://<metrics_listen>/metrics`; what trainers do is
told by the worker that runs them. Names are `ordo_<part>_<what>_<unit>` in base
units, `_total` for counters; histograms have `_bucket`, `_sum` and `_count`.

Labels have closed sets of values: never a job, a user, an attempt or a text.
`queue`, `kind` (of device), `worker` and `device` are those of the deployment,
`method` those of the services, `code` of RPCs those of gRPC. A `reason` is one
of docs/states.md.

This page is written by `bazel run //tools/metrics_page`; a test compares it
with the programs.
)";

std::string LabelText(const base::MetricLabel& label) {
  std::string text = absl::StrCat("`", label.name, "`");
  if (label.values.empty() || label.values.size() > kMaxValuesShown) {
    return text;
  }
  return absl::StrCat(text, ": ", absl::StrJoin(label.values, ", "));
}

std::string Table(const base::MetricsRegistry& registry) {
  std::string table =
      "| metric | type | labels | meaning |\n|---|---|---|---|\n";
  for (const base::DeclaredMetric& metric : registry.Declared()) {
    std::vector<std::string> labels;
    for (const base::MetricLabel& label : metric.definition.labels) {
      labels.push_back(LabelText(label));
    }
    absl::StrAppend(&table, "| `", metric.definition.name, "` | ", metric.type,
                    " | ", absl::StrJoin(labels, "; "), " | ",
                    metric.definition.help, " |\n");
  }
  return table;
}

}  // namespace

std::string MetricsPage() {
  base::MetricsRegistry of_scheduler;
  const scheduler::SchedulerMetrics scheduler_metrics(of_scheduler);
  const base::RpcMetrics scheduler_rpcs("scheduler", of_scheduler);
  base::AddProcessMetrics("scheduler", of_scheduler);
  base::AddCertificateMetrics("scheduler", {}, of_scheduler);
  base::MetricsRegistry of_worker;
  const worker::agent::WorkerMetrics worker_metrics(of_worker);
  const base::RpcMetrics worker_rpcs("worker", of_worker);
  base::AddProcessMetrics("worker", of_worker);
  base::AddCertificateMetrics("worker", {}, of_worker);
  return absl::StrCat(kIntroduction, "\n## Scheduler\n\n", Table(of_scheduler),
                      "\n## Worker\n\n", Table(of_worker));
}

}  // namespace ordo::tools::metrics_page
