#include "model/benchmark/attention_results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "kernels/common/device_name.h"
#include "model/benchmark/spread.h"

namespace ordo::model::benchmark {
namespace {

using kernels::Type;

constexpr char kReference[] = "libtorch_flash";
constexpr double kMebibyte = 1 << 20;

constexpr char kLegend[] =
    "*              the kernel that Select takes of the table, so what a job "
    "gets\n"
    "fwd_ratio      its time over that of LibTorch's flash attention in the "
    "same round\n"
    "fwd_bwd_ratio  the same of a forward and a backward pass together\n"
    "row_...        the same of what Select does not take\n"
    "of GEMM        counted FLOP/s over those of products of matrices\n"
    "of copy        bytes/s that passes need over those of copies\n"
    "peak MiB       the most that is there at a time beyond inputs\n";

// Names the figures of a row.
class RowMeasurements {
 public:
  RowMeasurements(const AttentionResults& results, const AttentionRow& row,
                  std::vector<Measurement>* out)
      : row_(row), out_(*out) {
    const AttentionShape& shape = row.shape;
    about_.benchmark = "attention";
    about_.params = {
        {"encoding", row.encoding},
        {"kernel", row.kernel},
        {"device", kernels::ToString({results.device, results.gpu})},
        {"type", NameOf(shape.type)},
        {"threads", absl::StrCat(results.threads)},
        {"B", absl::StrCat(shape.batch)},
        {"H", absl::StrCat(shape.heads)},
        {"N", absl::StrCat(shape.length)},
        {"d", absl::StrCat(shape.width)}};
  }

  void AddMemory() {
    Add("peak_bytes", "B", "", {static_cast<double>(row_.peak_bytes)});
  }

  void AddMemoryExponent(double exponent) {
    Add("peak_bytes_exponent", "1", "", {exponent});
  }

  void AddTimes(const MachineRates& machine) {
    const bool is_selected = row_.runner == Runner::kSelected;
    const bool is_other = !is_selected && row_.runner != Runner::kFlash;
    Add("fwd_seconds", "s", "", row_.forward_s);
    if (is_selected) Add("fwd_ratio", "1", kReference, row_.forward_ratio);
    if (!row_.has_backward) {
      if (is_other) Add("row_fwd_ratio", "1", kReference, row_.forward_ratio);
      AddRates("fwd", row_.flop.forward, row_.bytes.forward, machine);
      return;
    }
    Add("fwd_bwd_seconds", "s", "", row_.total_s);
    if (is_selected) Add("fwd_bwd_ratio", "1", kReference, row_.total_ratio);
    if (is_other) Add("row_fwd_bwd_ratio", "1", kReference, row_.total_ratio);
    AddRates("fwd_bwd", row_.flop.sum(), row_.bytes.sum(), machine);
  }

 private:
  void Add(const std::string& metric, const std::string& unit,
           const std::string& reference, const std::vector<double>& samples) {
    Measurement about = about_;
    about.metric = metric;
    about.unit = unit;
    about.reference = reference;
    out_.push_back(MedianOf(std::move(about), samples));
  }

  // Of the passes that `pass` names, which take total_s.
  void AddRates(const std::string& pass, double flop, double bytes,
                const MachineRates& machine) {
    Add(pass + "_flop_rate", "FLOP/s", "", Rates(flop));
    Add(pass + "_flop_share", "1", "gemm",
        Rates(flop / machine.gemm_flop_per_s));
    Add(pass + "_byte_rate", "B/s", "", Rates(bytes));
    Add(pass + "_byte_share", "1", "copy",
        Rates(bytes / machine.copy_bytes_per_s));
  }

  // `work` over the seconds of the passes.
  std::vector<double> Rates(double work) const {
    std::vector<double> rates;
    for (const double seconds : row_.total_s) rates.push_back(work / seconds);
    return rates;
  }

  const AttentionRow& row_;
  std::vector<Measurement>& out_;
  Measurement about_;
};

// Rows of one class, type and kernel, from short to long.
using Lines = std::map<std::tuple<std::string, Type, std::string>,
                       std::vector<const AttentionRow*>>;

void AddMachine(const AttentionResults& results,
                std::vector<Measurement>* out) {
  for (const auto& [type, rates] : results.machine) {
    Measurement about;
    about.benchmark = "attention";
    about.params = {
        {"device", kernels::ToString({results.device, results.gpu})},
        {"type", NameOf(type)},
        {"threads", absl::StrCat(results.threads)}};
    about.metric = "gemm_flop_rate";
    about.unit = "FLOP/s";
    out->push_back(MedianOf(about, {rates.gemm_flop_per_s}));
    about.metric = "copy_byte_rate";
    about.unit = "B/s";
    out->push_back(MedianOf(about, {rates.copy_bytes_per_s}));
  }
}

double Median(const std::vector<double>& samples) {
  return Quantile(samples, 0.5);
}

// Ratios have two decimals.
SpreadText RatioOf(const std::vector<double>& samples) {
  return SpreadOf(samples, /*scale=*/1, /*max_decimals=*/2);
}

// Widths of the table's columns, 120 together.
constexpr int kNameWidth = -22;
constexpr int kTimeWidth = 12;
constexpr int kRatioWidth = 11;
constexpr int kRateWidth = 7;
constexpr int kShareWidth = 5;

std::string TimesHead(bool has_backward) {
  LinePair lines;
  lines.Add(kNameWidth, "kernel");
  lines.Add(kTimeWidth, "fwd ms");
  lines.Add(kTimeWidth, "fwd+bwd ms");
  lines.Add(kRatioWidth, "fwd_ratio");
  lines.Add(kRatioWidth, "fwd_bwd_", "ratio");
  lines.Add(kRatioWidth, "row_fwd_", has_backward ? "bwd_ratio" : "ratio");
  lines.Add(kRateWidth, "GFLOP/s");
  lines.Add(kShareWidth, "of", "GEMM");
  lines.Add(kRateWidth, "GB/s");
  lines.Add(kShareWidth, "of", "copy");
  lines.Add(kRateWidth, "peak", "MiB");
  return lines.text();
}

std::string TimesLines(const AttentionRow& row, const MachineRates& machine) {
  const SpreadText none = SpreadOf({});
  const bool selected = row.runner == Runner::kSelected;
  const bool other = !selected && row.runner != Runner::kFlash;
  const bool both = row.has_backward;
  const double total_s = Median(row.total_s);
  const double flop_rate = (both ? row.flop.sum() : row.flop.forward) / total_s;
  const double byte_rate =
      (both ? row.bytes.sum() : row.bytes.forward) / total_s;
  LinePair lines;
  lines.Add(kNameWidth, absl::StrCat(row.kernel, selected ? " *" : ""));
  lines.Add(kTimeWidth, SpreadOf(row.forward_s, 1000));
  lines.Add(kTimeWidth, both ? SpreadOf(row.total_s, 1000) : none);
  lines.Add(kRatioWidth, selected ? RatioOf(row.forward_ratio) : none);
  lines.Add(kRatioWidth, selected && both ? RatioOf(row.total_ratio) : none);
  lines.Add(kRatioWidth, other ? RatioOf(row.total_ratio) : none);
  lines.Add(kRateWidth, absl::StrFormat("%.0f", 1e-9 * flop_rate));
  lines.Add(
      kShareWidth,
      absl::StrFormat("%.0f%%", 100 * flop_rate / machine.gemm_flop_per_s));
  lines.Add(kRateWidth, absl::StrFormat("%.1f", 1e-9 * byte_rate));
  lines.Add(
      kShareWidth,
      absl::StrFormat("%.0f%%", 100 * byte_rate / machine.copy_bytes_per_s));
  lines.Add(
      kRateWidth,
      absl::StrFormat("%.1f", static_cast<double>(row.peak_bytes) / kMebibyte));
  return lines.text();
}

std::string ShapeText(const AttentionShape& shape) {
  return absl::StrCat("B=", shape.batch, " H=", shape.heads,
                      " N=", shape.length, " d=", shape.width, "\n");
}

// "2 threads" of a CPU.
std::string DeviceText(const AttentionResults& results) {
  return results.device == kernels::Device::kCpu
             ? absl::StrCat(results.threads, " threads")
             : kernels::ToString({results.device, results.gpu});
}

Lines MemoryLines(const AttentionResults& results) {
  Lines lines;
  for (const AttentionRow& row : results.memory) {
    if (row.runner == Runner::kOther) continue;
    lines[{row.encoding, row.shape.type, row.kernel}].push_back(&row);
  }
  return lines;
}

}  // namespace

std::vector<Measurement> MeasurementsOf(const AttentionResults& results) {
  std::vector<Measurement> out;
  AddMachine(results, &out);
  for (const AttentionRow& row : results.rows) {
    RowMeasurements measurements(results, row, &out);
    measurements.AddTimes(results.machine.at(row.shape.type));
    measurements.AddMemory();
  }
  for (const AttentionRow& row : results.memory) {
    RowMeasurements(results, row, &out).AddMemory();
  }
  for (const auto& [name, rows] : MemoryLines(results)) {
    if (rows.size() < 2) continue;
    RowMeasurements(results, *rows.back(), &out)
        .AddMemoryExponent(MemoryExponent(rows));
  }
  return out;
}

std::string TimesTable(const AttentionClass& about, Type type,
                       const AttentionResults& results) {
  std::string lines, shape;
  const AttentionRow* last = nullptr;
  for (const AttentionRow& row : results.rows) {
    if (row.encoding != about.name || row.shape.type != type) continue;
    // A shape's rows stand together.
    if (ShapeText(row.shape) != shape) lines += ShapeText(row.shape);
    shape = ShapeText(row.shape);
    lines += TimesLines(row, results.machine.at(type));
    last = &row;
  }
  if (last == nullptr) return "";
  return absl::StrCat(about.name, ": ", TextOf(about), "\n", NameOf(type),
                      ", causal, ", DeviceText(results),
                      "; medians, below them min..max; * is what Select takes",
                      "\n", TimesHead(last->has_backward), lines);
}

std::string HeadText(const AttentionResults& results) {
  std::string text;
  for (const auto& [type, rates] : results.machine) {
    absl::StrAppendFormat(
        &text,
        "machine, %s: products of matrices %.0f GFLOP/s, copies %.1f "
        "GB/s (read and written), %s\n",
        NameOf(type), 1e-9 * rates.gemm_flop_per_s,
        1e-9 * rates.copy_bytes_per_s, DeviceText(results));
  }
  for (const auto& [encoding, why] : results.refused) {
    absl::StrAppend(&text, "no kernel for ", encoding, ": ", why, "\n");
  }
  return text + kLegend;
}

double MemoryExponent(const std::vector<const AttentionRow*>& rows) {
  ORDO_CHECK(rows.size() >= 2);
  const AttentionRow& longest = *rows.back();
  const AttentionRow& before = *rows[rows.size() - 2];
  return std::log(static_cast<double>(longest.peak_bytes) /
                  static_cast<double>(before.peak_bytes)) /
         std::log(static_cast<double>(longest.shape.length) /
                  static_cast<double>(before.shape.length));
}

std::string MemoryTable(const AttentionResults& results) {
  std::string text;
  for (const auto& [name, rows] : MemoryLines(results)) {
    const auto& [encoding, type, kernel] = name;
    if (text.empty()) {
      const AttentionShape& shape = rows.front()->shape;
      text = absl::StrCat("peak memory, MiB; B=", shape.batch,
                          " H=", shape.heads, " d=", shape.width, ", causal\n");
    }
    std::vector<std::string> figures;
    for (const AttentionRow* row : rows) {
      figures.push_back(
          absl::StrFormat("%d: %.1f", row->shape.length,
                          static_cast<double>(row->peak_bytes) / kMebibyte));
    }
    absl::StrAppendFormat(&text, "%-15s %-4s %-24s %s", encoding, NameOf(type),
                          kernel, absl::StrJoin(figures, "  "));
    if (rows.size() >= 2) {
      absl::StrAppendFormat(&text, "  ~ N^%.2f", MemoryExponent(rows));
    }
    text += "\n";
  }
  return text;
}

}  // namespace ordo::model::benchmark
