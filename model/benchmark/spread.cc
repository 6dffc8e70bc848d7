#include "model/benchmark/spread.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/benchmark/measurement.h"

namespace ordo::model::benchmark {

SpreadText SpreadOf(const std::vector<double>& samples, double scale,
                    int max_decimals) {
  if (samples.empty()) return {"-", ""};
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  // Digits before the point are none of these four.
  int decimals = 3;
  for (double x = *high * scale; x >= 10 && decimals > 0; x /= 10) --decimals;
  decimals = std::min(decimals, max_decimals);
  const auto text = [&](double x) {
    return absl::StrFormat("%.*f", decimals, x * scale);
  };
  return {text(Quantile(samples, 0.5)),
          absl::StrCat(text(*low), "..", text(*high))};
}

void LinePair::Add(int width, const std::string& above,
                   const std::string& below) {
  const char* const gap = above_.empty() ? "" : " ";
  absl::StrAppendFormat(&above_, "%s%*s", gap, width, above);
  absl::StrAppendFormat(&below_, "%s%*s", gap, width, below);
}

void LinePair::Add(int width, const SpreadText& spread) {
  Add(width, spread.median, spread.range);
}

std::string LinePair::text() const {
  std::string text;
  for (const std::string& line : {above_, below_}) {
    const auto stripped = absl::StripTrailingAsciiWhitespace(line);
    if (!stripped.empty()) absl::StrAppend(&text, stripped, "\n");
  }
  return text;
}

}  // namespace ordo::model::benchmark
