#include "model/catalog/headline.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ordo::model::catalog {
namespace {

// A result that has several is ranked by the first. `trained_mean` is all that
// an evaluation within the trained lengths has.
constexpr Headline kHeadlines[] = {
    {"grid_mean", false},   {"score", false},        {"error", true},
    {"perplexity", true},   {"acc_norm", false},     {"acc", false},
    {"exact_match", false}, {"f1", false},           {"rouge", false},
    {"rougeL", false},      {"trained_mean", false},
};

}  // namespace

const Headline* HeadlineOf(
    const google::protobuf::Map<std::string, double>& metrics) {
  for (const Headline& headline : kHeadlines) {
    const auto found = metrics.find(std::string(headline.metric));
    if (found != metrics.end() && std::isfinite(found->second)) {
      return &headline;
    }
  }
  return nullptr;
}

std::vector<size_t> RankByHeadline(const std::vector<HeadlineResult>& results) {
  const Headline* headline = nullptr;
  for (const HeadlineResult& result : results) {
    const Headline* own = HeadlineOf(*result.metrics);
    // All lie in the table, in its order.
    if (own != nullptr && (headline == nullptr || own < headline)) {
      headline = own;
    }
  }
  std::vector<std::tuple<double, int64_t, size_t>> ranked;
  for (size_t i = 0; i < results.size() && headline != nullptr; ++i) {
    const auto value = results[i].metrics->find(std::string(headline->metric));
    if (value == results[i].metrics->end() || !std::isfinite(value->second)) {
      continue;
    }
    const double loss =
        headline->less_is_better ? value->second : -value->second;
    ranked.emplace_back(loss, -results[i].step, i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<size_t> places;
  for (const auto& each : ranked) places.push_back(std::get<2>(each));
  return places;
}

}  // namespace ordo::model::catalog
