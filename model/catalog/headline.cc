#include "model/catalog/headline.h"

#include <cmath>

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

}  // namespace ordo::model::catalog
