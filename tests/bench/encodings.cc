// Measures a training step of every encoding beside one of rope and prints a
// table; kHelp says how. Times are ratios within pairs of steps taken in turn,
// so that what else the machine does falls on both; memory is counted, not
// sampled.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "base/status/status.h"
#include "model/benchmark/measurement.h"
#include "model/catalog/catalog.h"
#include "tests/bench/training_step.h"

namespace {

namespace catalog = ordo::model::catalog;
using ordo::model::benchmark::Quantile;
using ordo::tests::bench::EncodingOf;
using ordo::tests::bench::kReferenceEncoding;
using ordo::tests::bench::ModelOf;
using ordo::tests::bench::NumStepThreads;
using ordo::tests::bench::StepComparison;
using ordo::tests::bench::StepCosts;
using ordo::tests::bench::StepShape;
using ordo::training::v1::Component;
using ordo::training::v1::Model;

constexpr char kHelp[] =
    "Measures a training step of every encoding beside one of rope, and prints "
    "a\n"
    "table. OMP_NUM_THREADS sets the threads. Example:\n"
    "  tools/bench --encodings\n"
    "\n"
    "  --quick              one short step of each, to see that it works\n"
    "  --help               prints this\n";

// Half of those of the preset.
constexpr int kLayers = 2;
constexpr int kVocabulary = 19;

struct Plan {
  std::vector<int64_t> lengths = {256, 512, 1024};
  // Of a batch: rows are this by their length.
  int64_t tokens = 1024;
  // Pairs of steps, after one that warms up.
  int rounds = 5;
};

std::string Head(const Plan& plan, const Model& model) {
  std::vector<std::string> batches;
  for (const int64_t length : plan.lengths) {
    batches.push_back(absl::StrCat(plan.tokens / length, " x ", length));
  }
  std::string head = absl::StrCat(
      "A training step (forward, backward, AdamW) as a ratio to one of ",
      kReferenceEncoding,
      "; default\nparameters, where an encoding is made of others: ",
      kReferenceEncoding, ". Model: ", model.layers(), " layers, width ",
      model.width(), ",\n", model.heads(), " heads, MLP ", model.mlp_width(),
      ", ", model.vocabulary_size(), " tokens, fp32, ", NumStepThreads(),
      " threads. Batches: ", absl::StrJoin(batches, ", "),
      " tokens.\nTime: median of ", plan.rounds, " steps, each beside one of ",
      kReferenceEncoding,
      ". Memory: most bytes of tensors,\n"
      "parameters and optimizer included.\n\n");
  const auto line = [&](const std::string& first, const char* time,
                        const char* memory) {
    absl::StrAppend(&head, "| ", first);
    for (const char* text : {time, memory}) {
      for (const int64_t length : plan.lengths) {
        absl::StrAppend(&head, " | ", absl::Substitute(text, length));
      }
    }
    absl::StrAppend(&head, " |\n");
  };
  line("encoding", "time at $0", "memory at $0");
  line("---", "---:", "---:");
  return head;
}

// The costs of an encoding at each length; none where it has no room for it.
using Row = std::vector<std::optional<StepCosts>>;

absl::StatusOr<Row> MeasureRow(
    const Component& encoding,
    const std::vector<std::unique_ptr<StepComparison>>& comparisons) {
  const int64_t limit = catalog::MaxLength(encoding);
  Row row;
  for (const auto& comparison : comparisons) {
    row.emplace_back();
    if (limit != 0 && limit < comparison->length()) continue;
    ORDO_ASSIGN_OR_RETURN(row.back(), comparison->Measure(encoding));
  }
  return row;
}

std::string RowText(const std::string& name, const Row& row,
                    const Row& reference) {
  std::string times, bytes;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!row[i].has_value()) {
      times += " | -";
      bytes += " | -";
      continue;
    }
    absl::StrAppend(&times, " | ",
                    absl::StrFormat("%.2f", Quantile(row[i]->ratios, 0.5)));
    absl::StrAppend(
        &bytes, " | ",
        absl::StrFormat("%.2f", static_cast<double>(row[i]->bytes) /
                                    static_cast<double>(reference[i]->bytes)));
  }
  return absl::StrCat("| ", name, times, bytes, " |\n");
}

std::string ReferenceText(const Plan& plan, const Row& reference) {
  std::string text = absl::StrCat("\n", kReferenceEncoding, " itself: ");
  for (size_t i = 0; i < reference.size(); ++i) {
    absl::StrAppend(
        &text, i == 0 ? "" : "; ", "at ", plan.lengths[i], " ",
        absl::StrFormat("%.0f ms and %.1f MiB",
                        1000 * Quantile(reference[i]->seconds, 0.5),
                        static_cast<double>(reference[i]->bytes) / (1 << 20)));
  }
  return text + "\n";
}

absl::Status PrintTable(const Plan& plan) {
  ORDO_ASSIGN_OR_RETURN(const Model model,
                        ModelOf("tiny", kLayers, kVocabulary));
  std::vector<std::unique_ptr<StepComparison>> comparisons;
  for (const int64_t length : plan.lengths) {
    const StepShape shape = {plan.tokens / length, length, plan.rounds};
    ORDO_ASSIGN_OR_RETURN(auto made, StepComparison::Create(model, shape));
    comparisons.push_back(std::move(made));
  }
  std::fputs(Head(plan, model).c_str(), stdout);
  std::fflush(stdout);
  const auto measure = [&](const std::string& name) -> absl::StatusOr<Row> {
    ORDO_ASSIGN_OR_RETURN(const Component encoding, EncodingOf(name, model));
    return MeasureRow(encoding, comparisons);
  };
  ORDO_ASSIGN_OR_RETURN(const Row reference, measure(kReferenceEncoding));
  for (const catalog::Entry* entry :
       catalog::EntriesOf(catalog::Kind::kEncoding)) {
    ORDO_ASSIGN_OR_RETURN(const Row row, measure(entry->name));
    std::fputs(RowText(entry->name, row, reference).c_str(), stdout);
    std::fflush(stdout);
  }
  std::fputs(ReferenceText(plan, reference).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--quick") == 0) {
    plan = {{8, 16}, 16, 1};
  } else if (argc != 1) {
    std::fputs("usage: encodings [--quick]\n", stderr);
    return 2;
  }
  const absl::Status printed = PrintTable(plan);
  if (printed.ok()) return 0;
  std::fprintf(stderr, "encodings: %s\n", printed.ToString().c_str());
  return 1;
}
