#ifndef ORDO_BASE_METRICS_METRICS_H_
#define ORDO_BASE_METRICS_METRICS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "prometheus/collectable.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

// Prometheus metrics of one process. A binary declares all of its metrics in
// one metrics.h:
//
//   struct SchedulerMetrics {
//     explicit SchedulerMetrics(MetricsRegistry& registry)
//         : queue_depth(registry.AddGauge(
//               {"ordo_scheduler_queue_depth_jobs",
//                "Jobs that wait to be placed.", {{"queue", {"default"}}}})) {}
//     GaugeFamily queue_depth;
//   };
//   metrics.queue_depth.With({"default"}).Set(3);

namespace ordo::base {

// A label and the closed set of its values. Never a job, attempt or time.
struct MetricLabel {
  std::string name;
  // The values it may take; empty when the set is closed elsewhere (methods of
  // the registered services, devices of this machine).
  std::vector<std::string> values = {};
};

struct MetricDefinition {
  // ordo_<part>_<what>_<unit> in base units; a counter ends in _total.
  std::string name;
  // A sentence for people.
  std::string help;
  std::vector<MetricLabel> labels = {};
};

// INVALID_ARGUMENT when the name does not follow the rule above.
absl::Status CheckMetricName(std::string_view name, bool is_counter);

// All time series of one metric. Copied freely; lives as long as its registry.
// Thread-safe.
template <typename T>
class MetricFamily {
 public:
  // The time series with these label values, in the order of the definition.
  // Checks that each is in its closed set. The reference stays valid until the
  // time series is removed.
  T& With(const std::vector<std::string>& label_values) const;
  // Its labels name what is no more: it is not on the page, until it is asked
  // for again and begins at 0. Nobody may use a reference to it.
  void Remove(const std::vector<std::string>& label_values) const;
  // The same of each time series of whose label values `is_gone` is true.
  void RemoveIf(const std::function<bool(const std::vector<std::string>&)>&
                    is_gone) const;

 private:
  friend class MetricsRegistry;
  // The time series that there are. To ask the family itself makes another one
  // each time, and throws it away.
  struct Known {
    Mutex mutex;
    std::map<std::vector<std::string>, T*> series ORDO_GUARDED_BY(mutex);
  };

  MetricFamily(prometheus::Family<T>* family, MetricDefinition definition,
               std::vector<double> buckets)
      : family_(family),
        definition_(std::move(definition)),
        buckets_(std::move(buckets)) {}

  prometheus::Family<T>* family_;
  MetricDefinition definition_;
  std::vector<double> buckets_;  // Of histograms only.
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

using CounterFamily = MetricFamily<prometheus::Counter>;
using GaugeFamily = MetricFamily<prometheus::Gauge>;
using HistogramFamily = MetricFamily<prometheus::Histogram>;

// By their label values, the gauge's time series and what they show; all others
// are removed.
void ShowOnly(const GaugeFamily& family,
              const std::map<std::vector<std::string>, double>& values);

// A counter of what the machine counts: it becomes `value`, unless it is there
// already.
void RaiseTo(double value, prometheus::Counter& counter);

// Upper bounds, in seconds, for latencies from 0.1 ms to 10 min.
std::vector<double> LatencyBucketsSeconds();

// A metric and its type: "counter", "gauge" or "histogram".
struct DeclaredMetric {
  std::string type;
  MetricDefinition definition;
};

// The metrics of a process. Checks the name of each (a bad one is a programmer
// error). A time series of a metric without labels, or whose labels all have
// their values listed, exists from the start with value 0. Thread-safe.
class MetricsRegistry {
 public:
  MetricsRegistry();

  CounterFamily AddCounter(const MetricDefinition& definition);
  GaugeFamily AddGauge(const MetricDefinition& definition);
  HistogramFamily AddHistogram(const MetricDefinition& definition,
                               const std::vector<double>& buckets);

  // `update` is called before each page is made, by who asks for it, one page
  // at a time: for what is looked up rather than counted. It is quick, never
  // waits for a file system that may hang, and may use all of this but pages.
  void OnCollect(std::function<void()> update);

  // The page that Prometheus reads (text exposition format).
  std::string Text() const;

  // What a server of the page collects.
  const std::shared_ptr<prometheus::Collectable>& registry() const {
    return page_;
  }

  // All that were added, by name.
  std::vector<DeclaredMetric> Declared() const;

 private:
  class Page;

  void Declare(const std::string& type, const MetricDefinition& definition);

  const std::shared_ptr<prometheus::Registry> registry_;
  const std::shared_ptr<Page> updates_;
  const std::shared_ptr<prometheus::Collectable> page_;
  mutable Mutex mutex_;
  std::map<std::string, DeclaredMetric> declared_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::base

#endif  // ORDO_BASE_METRICS_METRICS_H_
