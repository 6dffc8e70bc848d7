#include "base/metrics/metrics.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "prometheus/text_serializer.h"

namespace ordo::base {
namespace {

constexpr std::string_view kPrefix = "ordo_";
constexpr std::string_view kCounterSuffix = "_total";
// ordo, part, what, unit.
constexpr int kMinNameParts = 4;

void CheckDefinition(const MetricDefinition& definition, bool is_counter) {
  const absl::Status status = CheckMetricName(definition.name, is_counter);
  ORDO_CHECK(status.ok()) << status.ToString();
  ORDO_CHECK(!definition.help.empty()) << definition.name << " needs a help";
}

bool IsListed(const MetricLabel& label, const std::string& value) {
  return label.values.empty() ||
         std::find(label.values.begin(), label.values.end(), value) !=
             label.values.end();
}

// Makes the time series of all combinations of the listed values from `values`
// on; none when a label does not list its values.
template <typename T>
void MakeAll(const MetricFamily<T>& family, const MetricDefinition& definition,
             std::vector<std::string> values) {
  if (values.size() == definition.labels.size()) {
    family.With(values);
    return;
  }
  for (const std::string& value : definition.labels[values.size()].values) {
    std::vector<std::string> longer = values;
    longer.push_back(value);
    MakeAll(family, definition, longer);
  }
}

}  // namespace

absl::Status CheckMetricName(std::string_view name, bool is_counter) {
  const auto refuse = [&](const std::string& why) {
    return absl::InvalidArgumentError("metric '" + std::string(name) + "' " +
                                      why);
  };
  int num_parts = 1;
  char previous = '_';
  for (const char c : name) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!is_word && (c != '_' || previous == '_')) {
      return refuse("must be words of a-z and 0-9 joined by single '_'");
    }
    if (c == '_') ++num_parts;
    previous = c;
  }
  if (previous == '_' || num_parts < kMinNameParts ||
      name.substr(0, kPrefix.size()) != kPrefix) {
    return refuse("must be ordo_<part>_<what>_<unit>");
  }
  const bool has_suffix =
      name.substr(name.size() - kCounterSuffix.size()) == kCounterSuffix;
  if (is_counter && !has_suffix) return refuse("is a counter: end in _total");
  if (!is_counter && has_suffix) return refuse("is no counter: drop _total");
  return absl::OkStatus();
}

template <typename T>
T& MetricFamily<T>::With(const std::vector<std::string>& label_values) const {
  MutexLock lock(known_->mutex);
  T*& known = known_->series[label_values];
  if (known != nullptr) return *known;
  ORDO_CHECK(label_values.size() == definition_.labels.size())
      << definition_.name;
  std::map<std::string, std::string> labels;
  for (size_t i = 0; i < label_values.size(); ++i) {
    const MetricLabel& label = definition_.labels[i];
    ORDO_CHECK(IsListed(label, label_values[i]))
        << definition_.name << " has no " << label.name << "=\""
        << label_values[i] << "\"";
    labels[label.name] = label_values[i];
  }
  if constexpr (std::is_same_v<T, prometheus::Histogram>) {
    known = &family_->Add(labels, buckets_);
  } else {
    known = &family_->Add(labels);
  }
  return *known;
}

template <typename T>
void MetricFamily<T>::Remove(
    const std::vector<std::string>& label_values) const {
  MutexLock lock(known_->mutex);
  const auto found = known_->series.find(label_values);
  if (found == known_->series.end()) return;
  family_->Remove(found->second);
  known_->series.erase(found);
}

template <typename T>
void MetricFamily<T>::RemoveIf(
    const std::function<bool(const std::vector<std::string>&)>& is_gone) const {
  MutexLock lock(known_->mutex);
  for (auto it = known_->series.begin(); it != known_->series.end();) {
    if (is_gone(it->first)) {
      family_->Remove(it->second);
      it = known_->series.erase(it);
    } else {
      ++it;
    }
  }
}

template class MetricFamily<prometheus::Counter>;
template class MetricFamily<prometheus::Gauge>;
template class MetricFamily<prometheus::Histogram>;

void ShowOnly(const GaugeFamily& family,
              const std::map<std::vector<std::string>, double>& values) {
  family.RemoveIf([&values](const std::vector<std::string>& labels) {
    return values.count(labels) == 0;
  });
  for (const auto& [labels, value] : values) family.With(labels).Set(value);
}

void RaiseTo(double value, prometheus::Counter& counter) {
  const double more = value - counter.Value();
  if (more > 0) counter.Increment(more);
}

std::vector<double> LatencyBucketsSeconds() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
          0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5,
          5,      10,      30,     60,    150,    300,   600};
}

class MetricsRegistry::Page : public prometheus::Collectable {
 public:
  explicit Page(std::shared_ptr<prometheus::Registry> registry)
      : registry_(std::move(registry)) {}

  void Add(std::function<void()> update) {
    MutexLock lock(mutex_);
    updates_.push_back(std::move(update));
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    MutexLock lock(mutex_);
    for (const auto& update : updates_) update();
    return registry_->Collect();
  }

 private:
  const std::shared_ptr<prometheus::Registry> registry_;
  mutable Mutex mutex_;
  std::vector<std::function<void()>> updates_ ORDO_GUARDED_BY(mutex_);
};

MetricsRegistry::MetricsRegistry()
    : registry_(std::make_shared<prometheus::Registry>(
          prometheus::Registry::InsertBehavior::Throw)),
      updates_(std::make_shared<Page>(registry_)),
      page_(updates_) {}

void MetricsRegistry::Declare(const std::string& type,
                              const MetricDefinition& definition) {
  CheckDefinition(definition, type == "counter");
  MutexLock lock(mutex_);
  declared_[definition.name] = {type, definition};
}

CounterFamily MetricsRegistry::AddCounter(const MetricDefinition& definition) {
  Declare("counter", definition);
  CounterFamily family(&prometheus::BuildCounter()
                            .Name(definition.name)
                            .Help(definition.help)
                            .Register(*registry_),
                       definition, {});
  MakeAll(family, definition, {});
  return family;
}

GaugeFamily MetricsRegistry::AddGauge(const MetricDefinition& definition) {
  Declare("gauge", definition);
  GaugeFamily family(&prometheus::BuildGauge()
                          .Name(definition.name)
                          .Help(definition.help)
                          .Register(*registry_),
                     definition, {});
  MakeAll(family, definition, {});
  return family;
}

HistogramFamily MetricsRegistry::AddHistogram(
    const MetricDefinition& definition, const std::vector<double>& buckets) {
  Declare("histogram", definition);
  ORDO_CHECK(std::is_sorted(buckets.begin(), buckets.end()));
  HistogramFamily family(&prometheus::BuildHistogram()
                              .Name(definition.name)
                              .Help(definition.help)
                              .Register(*registry_),
                         definition, buckets);
  MakeAll(family, definition, {});
  return family;
}

void MetricsRegistry::OnCollect(std::function<void()> update) {
  updates_->Add(std::move(update));
}

std::string MetricsRegistry::Text() const {
  return prometheus::TextSerializer().Serialize(page_->Collect());
}

std::vector<DeclaredMetric> MetricsRegistry::Declared() const {
  MutexLock lock(mutex_);
  std::vector<DeclaredMetric> all;
  for (const auto& [name, metric] : declared_) all.push_back(metric);
  return all;
}

}  // namespace ordo::base
