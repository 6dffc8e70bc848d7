#include "report/summary/score_kind.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace ordo::report::summary {
namespace {

constexpr char kLess[] = "less is better";
constexpr char kMore[] = "more is better";

struct Row {
  const char* name;
  const char* better;
  bool is_share;
  bool is_by_token = false;
};

constexpr Row kRows[] = {
    {"acc", kMore, true},
    {"acc_norm", kMore, true},
    {"batch_mean_perplexity", kLess, false, true},
    {"bits_per_byte", kLess, false},
    {"diagonal_mean", kMore, true},
    {"error", kLess, true},
    {"exact_match", kMore, true},
    {"f1", kMore, true},
    {"grid_mean", kMore, true},
    {"largest", kMore, false},
    {"outside_mean", kMore, true},
    {"perplexity", kLess, false, true},
    {"rouge", kMore, true},
    {"rougeL", kMore, true},
    {"score", kMore, true},
    {"supported_length", kMore, false},
    {"token_error", kLess, true},
    {"trained_mean", kMore, true},
    // Of what was asked, whatever the model answers.
    {"unanswerable", "", true},
    {"word_perplexity", kLess, false},
    {"wrong_rows", kLess, true},
};

// Without the length that it is of.
absl::string_view WithoutLength(absl::string_view metric) {
  if (absl::ConsumeSuffix(&metric, "_longer")) return metric;
  absl::string_view rest = metric;
  while (!rest.empty() && absl::ascii_isdigit(rest.back())) {
    rest.remove_suffix(1);
  }
  const bool has_digits = rest.size() < metric.size();
  return has_digits && absl::ConsumeSuffix(&rest, "_") ? rest : metric;
}

}  // namespace

ScoreKind KindOf(const std::string& metric) {
  const absl::string_view name = WithoutLength(metric);
  for (const Row& row : kRows) {
    if (name == row.name) return {row.better, row.is_share, row.is_by_token};
  }
  return {};
}

std::string BetterText(const std::string& metric) {
  const std::string better = KindOf(metric).better;
  return better.empty() ? "" : absl::StrCat(" (", better, ")");
}

}  // namespace ordo::report::summary
