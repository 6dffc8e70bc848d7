#include "tests/bench/attention_figures.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ordo::tests::bench {
namespace {

using model::benchmark::AttentionResults;
using model::benchmark::AttentionRow;
using model::benchmark::NameOf;
using model::benchmark::Quantile;
using model::benchmark::Runner;
using report::Figure;

constexpr char kMap[] = "as a map, without a kernel";

// Whether rows differ in what the titles of lines then say.
bool HasSeveralWidths(const std::vector<AttentionRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const AttentionRow& row) {
    return row.shape.width != rows.front().shape.width;
  });
}

std::string TitleOf(const AttentionRow& row, bool with_width) {
  return with_width
             ? absl::StrCat(NameOf(row.shape.type), ", d=", row.shape.width)
             : NameOf(row.shape.type);
}

std::string ConditionsOf(const AttentionResults& results,
                         const std::vector<AttentionRow>& rows) {
  const auto& shape = rows.front().shape;
  const std::string device =
      results.device == kernels::Device::kCpu
          ? absl::StrCat("CPU, ", results.threads, " threads")
          : std::string("GPU");
  bool same = true;
  for (const AttentionRow& row : rows) {
    same = same && row.shape.batch == shape.batch &&
           row.shape.heads == shape.heads && row.shape.width == shape.width;
  }
  return same ? absl::StrCat("B=", shape.batch, " H=", shape.heads,
                             " d=", shape.width, ", causal, ", device)
              : absl::StrCat("causal, ", device);
}

Figure Ratios(const AttentionResults& results) {
  Panels panels;
  const bool with_width = HasSeveralWidths(results.rows);
  for (const AttentionRow& row : results.rows) {
    const bool is_map = row.runner == Runner::kMaterialised;
    if (row.runner != Runner::kSelected && !is_map) continue;
    const auto [low, high] =
        std::minmax_element(row.total_ratio.begin(), row.total_ratio.end());
    panels.Of(row.encoding)
        .Add(TitleOf(row, with_width), is_map,
             {row.shape.length, Quantile(row.total_ratio, 0.5), *low, *high});
  }
  if (panels.all().empty()) return {};
  return DrawPanels(panels, {"Attention: time of forward and backward",
                             ConditionsOf(results, results.rows),
                             "time / LibTorch's flash attention",
                             /*level=*/1, "flash attention", kMap});
}

Figure Memory(const AttentionResults& results) {
  Panels panels;
  for (const AttentionRow& row : results.memory) {
    constexpr double kMebibyte = 1 << 20;
    const bool is_map = row.runner == Runner::kMaterialised;
    if (row.runner != Runner::kSelected && !is_map) continue;
    const double y = static_cast<double>(row.peak_bytes) / kMebibyte;
    panels.Of(row.encoding)
        .Add(NameOf(row.shape.type), is_map, {row.shape.length, y, y, y});
  }
  if (panels.all().empty()) return {};
  return DrawPanels(panels,
                    {"Attention: peak memory of forward and backward",
                     ConditionsOf(results, results.memory), "MiB beyond inputs",
                     /*level=*/0, "", kMap});
}

}  // namespace

std::vector<NamedFigure> FiguresOf(const AttentionResults& results) {
  std::vector<NamedFigure> figures;
  for (const NamedFigure& named :
       {NamedFigure{"attention_ratio", Ratios(results)},
        NamedFigure{"attention_memory", Memory(results)}}) {
    if (!named.figure.script.empty()) figures.push_back(named);
  }
  return figures;
}

}  // namespace ordo::tests::bench
