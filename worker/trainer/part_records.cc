#include "worker/trainer/part_records.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "model/catalog/catalog.h"
#include "model/evaluation/item_pairs.h"
#include "model/evaluation/report.h"
#include "model/guard.h"
#include "model/training/initial_values.h"
#include "nlohmann/json.hpp"
#include "report/grid.h"
#include "report/lengths.h"
#include "report/metrics.h"
#include "report/stats/paired.h"
#include "report/summary/results.h"
#include "worker/trainer/control.h"

namespace ordo::worker::trainer {
namespace {

using ordo::model::training::InitialValues;
using ordo::training::v1::PartResult;

using model::evaluation::kResultFile;

constexpr size_t kMaxInitialBytes = 64 << 20;
constexpr size_t kMaxResultBytes = 16 << 20;
// Of one arm in one evaluation: some hundreds of megabytes while they are
// paired.
constexpr size_t kMaxPairedItems = 4'000'000;

// Of the newest attempt that wrote them, all attempts of a run having the same;
// nothing where none did.
absl::StatusOr<InitialValues> ReadInitialValues(const TrainerContext& context,
                                                const PartResult& part) {
  for (int attempt = part.attempts(); attempt > 0; --attempt) {
    const std::string path = base::JoinPath(
        context.storage_root, absl::StrCat("jobs/", part.job(), "/attempts/",
                                           attempt, "/", kInitialFile));
    const auto text = base::ReadFile(context.files, path, kMaxInitialBytes);
    if (absl::IsNotFound(text.status())) continue;
    ORDO_RETURN_IF_ERROR(text.status());
    ORDO_ASSIGN_OR_RETURN(InitialValues values,
                          model::Guard(absl::StrCat("read ", path), [&] {
                            return model::training::InitialValuesOf(
                                nlohmann::ordered_json::parse(*text));
                          }));
    if (model::training::CombinedDigest(values) !=
        part.control().initial_digest()) {
      return absl::DataLossError(absl::StrCat(
          path, " does not hold the values that the run says it began with"));
    }
    return values;
  }
  return InitialValues();
}

// Adds how many items the evaluation of a report is of, and what it found at
// each length.
absl::Status AddLengths(const TrainerContext& context,
                        const PartResult::Report& of,
                        report::summary::PartRecords* records) {
  const std::string path = base::JoinPath(
      base::JoinPath(context.storage_root, of.path()), kResultFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(context.files, path, kMaxResultBytes));
  ORDO_ASSIGN_OR_RETURN(records->num_items[of.path()],
                        report::ParseNumItems(text));
  ORDO_ASSIGN_OR_RETURN(report::Lengths lengths, report::ParseLengths(text));
  if (!lengths.values.empty() || !lengths.tokenizer.empty()) {
    records->lengths[of.path()] = std::move(lengths);
  }
  if (of.task() != report::kGridTask) return absl::OkStatus();
  ORDO_ASSIGN_OR_RETURN(records->grids[of.path()], report::ParseGrid(text));
  return absl::OkStatus();
}

absl::StatusOr<report::stats::PairedSample> ReadSample(
    const TrainerContext& context, const report::summary::PairedArm& arm) {
  std::vector<report::stats::PairedItem> items;
  for (const report::summary::ReportPair& seed : arm.seeds) {
    ORDO_ASSIGN_OR_RETURN(
        model::evaluation::PairedItems paired,
        model::evaluation::PairItems(
            context.files,
            {base::JoinPath(context.storage_root, seed.candidate),
             base::JoinPath(context.storage_root, seed.baseline)}));
    if (items.size() + paired.items.size() > kMaxPairedItems) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "there are more than ", kMaxPairedItems, " of them over all seeds"));
    }
    for (model::evaluation::ItemPair& pair : paired.items) {
      items.push_back({pair.baseline, pair.candidate, std::move(pair.unit)});
    }
  }
  return report::stats::MakePairedSample(items);
}

// Without bounds where the task is not known.
double ScoreRangeOf(const std::string& task) {
  const model::catalog::Entry* entry =
      model::catalog::Find(model::catalog::Kind::kEvaluationTask, task);
  return entry == nullptr
             ? std::numeric_limits<double>::infinity()
             : model::catalog::ScoreRange(entry->evaluation.item_scores);
}

}  // namespace

report::summary::PartRecords ReadPartRecords(const TrainerContext& context,
                                             const PartResult& part,
                                             Progress* progress) {
  report::summary::PartRecords records;
  const auto values = ReadInitialValues(context, part);
  if (values.ok()) {
    for (const auto& [name, value] : *values) {
      records.initial_values[name] = {absl::StrJoin(value.shape, ","),
                                      value.sha256};
    }
  } else {
    progress->Warning(absl::StrCat(
        "the initial values of ", part.job(),
        " are not known one by one: ", std::string(values.status().message())));
  }
  for (const auto& counted : report::summary::CountedReports(part)) {
    const std::string& path = counted.report->path();
    const auto digest = model::evaluation::QuestionsDigest(
        context.files, base::JoinPath(context.storage_root, path));
    if (!digest.ok()) {
      progress->Warning(absl::StrCat(
          "what was asked in ", path,
          " is not known: ", std::string(digest.status().message())));
      continue;
    }
    records.questions[path] = *digest;
    const absl::Status added = AddLengths(context, *counted.report, &records);
    if (!added.ok()) {
      progress->Warning(
          absl::StrCat("the scores by length in ", path,
                       " are not known: ", std::string(added.message())));
    }
  }
  return records;
}

std::vector<report::summary::ArmItems> ReadArmItems(
    const TrainerContext& context,
    const ordo::training::v1::SummarizeSpec& spec, Progress* progress) {
  std::vector<report::summary::ArmItems> all;
  for (const report::summary::PairedArm& arm :
       report::summary::PairArms(spec)) {
    if (context.stop_requested()) break;
    auto sample = ReadSample(context, arm);
    if (!sample.ok()) {
      progress->Warning(absl::StrCat("the items of ", arm.evaluation,
                                     " are not compared of ", arm.arm, ": ",
                                     std::string(sample.status().message())));
      continue;
    }
    all.push_back({arm.evaluation, arm.arm, static_cast<int>(arm.seeds.size()),
                   *std::move(sample), ScoreRangeOf(arm.task)});
  }
  return all;
}

}  // namespace ordo::worker::trainer
