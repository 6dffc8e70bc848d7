#include "services/cli/sparkline.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ordo::services::cli {
namespace {

constexpr const char* kBlocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                   "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr const char* kAscii[] = {"_", ".", "-", "=", "+", "*", "%", "#"};
constexpr int kNumLevels = static_cast<int>(std::size(kBlocks));
static_assert(std::size(kAscii) == std::size(kBlocks));

// Means of equal shares of the values, at most `width`.
std::vector<double> Columns(const std::vector<double>& values, size_t width) {
  const size_t num_columns = std::min(values.size(), width);
  std::vector<double> columns;
  for (size_t c = 0; c < num_columns; ++c) {
    const size_t begin = c * values.size() / num_columns;
    const size_t end = (c + 1) * values.size() / num_columns;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += values[i];
    columns.push_back(sum / static_cast<double>(end - begin));
  }
  return columns;
}

}  // namespace

void History::Add(double value) {
  if (!std::isfinite(value)) return;
  sum_ += value;
  if (++count_ < stride_) return;
  values_.push_back(sum_ / static_cast<double>(count_));
  sum_ = 0;
  count_ = 0;
  if (values_.size() < kMaxValues) return;
  for (size_t i = 0; i < kMaxValues / 2; ++i) {
    values_[i] = (values_[2 * i] + values_[2 * i + 1]) / 2;
  }
  values_.resize(kMaxValues / 2);
  stride_ *= 2;
}

std::string Sparkline(const std::vector<double>& values, int width,
                      bool unicode) {
  const std::vector<double> columns =
      Columns(values, static_cast<size_t>(width));
  const auto [least, most] =
      std::minmax_element(columns.begin(), columns.end());
  std::string text;
  for (const double column : columns) {
    const double share =
        *most > *least ? (column - *least) / (*most - *least) : 0;
    const int level =
        std::clamp(static_cast<int>(share * kNumLevels), 0, kNumLevels - 1);
    text += unicode ? kBlocks[level] : kAscii[level];
  }
  return text;
}

}  // namespace ordo::services::cli
