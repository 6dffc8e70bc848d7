#include "model/catalog/metric_names.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "model/catalog/lengths.h"

namespace ordo::model::catalog {
namespace {

using Names = std::vector<std::string>;
using ordo::training::v1::Data;

constexpr char kAnyLength[] = "<length>";
constexpr char kAnyLayer[] = "<layer>";
constexpr char kTrainedMean[] = "trained_mean";
constexpr char kOutsideMean[] = "outside_mean";
constexpr char kScore[] = "score";
constexpr char kErrorLonger[] = "error_longer";

Names OfGrid(const ParamMap& /*params*/) {
  return {"grid_mean", "diagonal_mean", "largest_95", kTrainedMean,
          kOutsideMean};
}

Names OfLengths(const ParamMap& /*params*/) { return {kScore, kTrainedMean}; }

Names OfRuler(const ParamMap& /*params*/) {
  return {kScore, kTrainedMean, "supported_length"};
}

Names OfFlipFlop(const ParamMap& /*params*/) { return {"error", "wrong_rows"}; }

Names OfSelectiveCopy(const ParamMap& /*params*/) {
  return {"error", "token_error"};
}

Names OfCounting(const ParamMap& /*params*/) {
  return {"error", "unanswerable"};
}

Names OfText(const ParamMap& /*params*/) {
  return {"perplexity", "word_perplexity", "bits_per_byte",
          "batch_mean_perplexity"};
}

// The metric that a set is scored by where its file does not say.
std::string MetricOfFormat(const std::string& format) {
  if (format == "mmlu") return "acc";
  if (format == "arc") return "acc_norm";
  if (format == "qmsum" || format == "summ_screen_fd" ||
      format == "gov_report") {
    return "rouge";
  }
  return format == "own" ? "" : "exact_match";
}

Names OfQuestions(const ParamMap& map) {
  const Params params(map);
  const std::string format = params.String("format");
  std::string metric = params.String("metric");
  if (metric == "of_format") metric = MetricOfFormat(format);
  const auto may_be = [&metric](const char* one, const char* other) {
    return metric.empty() || metric == one || metric == other;
  };
  Names names;
  if (may_be("acc", "acc_norm")) names = {"acc", "acc_norm"};
  if (may_be("exact_match", "f1")) {
    names.insert(names.end(), {"exact_match", "f1"});
  }
  if (may_be("rouge", "rouge")) {
    names.insert(names.end(), {"rouge", "rouge1", "rouge2", "rougeL"});
    // Nothing breaks the texts of SCROLLS into sentences.
    if (format == "own") names.push_back("rougeLsum");
  }
  if (format != "mmlu") return names;
  for (const char* category :
       {"humanities", "social_sciences", "stem", "other"}) {
    names.push_back(absl::StrCat(metric, "_", category));
  }
  return names;
}

Names OfLayers(const Names& numbers) {
  Names names;
  for (const std::string& number : numbers) {
    names.push_back(absl::StrCat(number, "_l", kAnyLayer));
  }
  return names;
}

Names OfStability(const ParamMap& /*params*/) {
  return OfLayers({"shift_attention", "shift_variation", "shift_positions",
                   "add_attention", "add_variation", "add_positions"});
}

Names OfAttentionMap(const ParamMap& /*params*/) {
  return OfLayers({"diagonal", "position_diagonal"});
}

Names OfPositionSimilarity(const ParamMap& /*params*/) {
  return OfLayers({"state_change", "state_norm"});
}

struct Row {
  const char* task;
  // Of one length.
  Names (*names)(const ParamMap& params);
};

constexpr Row kRows[] = {
    {"addition_grid", OfGrid},
    {"attention_map", OfAttentionMap},
    {"bitwise_or_grid", OfGrid},
    {"counting", OfCounting},
    {"flip_flop", OfFlipFlop},
    {"multiplication_grid", OfGrid},
    {"needle", OfLengths},
    {"nope", OfLengths},
    {"passkey", OfLengths},
    {"pcfg", OfLengths},
    {"position_similarity", OfPositionSimilarity},
    {"questions", OfQuestions},
    {"ruler", OfRuler},
    {"ruoss", OfLengths},
    {"scan", OfLengths},
    {"selective_copy", OfSelectiveCopy},
    {"sorting_grid", OfGrid},
    {"stability", OfStability},
    {"text", OfText},
};

void LeaveOut(const char* name, Names* names) {
  names->erase(std::remove(names->begin(), names->end(), name), names->end());
}

// Of those that are asked for, numbers or not.
size_t NumLengths(const ParamMap& params) {
  const auto list = params.find(kLengths);
  if (list == params.end()) return 0;
  return static_cast<size_t>(list->second.list_value().values_size());
}

// What stands for each of the lengths that are asked for; empty: one length,
// which is not named.
Names LengthTexts(const Entry& task, const ParamMap& params) {
  if (task.evaluation.length.trained_task.empty()) return {};
  if (NumLengths(params) == 0) return {};
  const std::vector<int64_t> lengths = LengthsOf(task, params);
  if (lengths.size() != NumLengths(params)) {
    // Multiples of what is not known yet.
    return {kAnyLength};
  }
  Names texts;
  for (const int64_t length : lengths) texts.push_back(absl::StrCat(length));
  return texts;
}

void AddAtLengths(const std::string& name, const Names& lengths, Names* names) {
  for (const std::string& length : lengths) {
    names->push_back(absl::StrCat(name, "_", length));
  }
}

// Of a task whose lengths are parts of it, each with scores of its own.
Names OfParts(const Names& own, const Names& lengths) {
  Names names = {"error", kErrorLonger};
  AddAtLengths("error", lengths, &names);
  for (const std::string& name : own) {
    const bool sums_up =
        name == "error" || name == kScore || name == kTrainedMean;
    if (!sums_up) AddAtLengths(name, lengths, &names);
  }
  return names;
}

// What a grid asks beside what was trained, and what of that.
void LeaveOutOfGrid(const Entry& task, const ParamMap& asked,
                    const Data& trained_on, Names* names) {
  const bool is_trained = absl::StrCat(trained_on.task(), "_grid") == task.name;
  bool is_larger = false;
  for (const char* size : {"max_digits", "max_bits", "max_numbers"}) {
    if (!is_trained || FindParam(task, size) == nullptr) continue;
    is_larger |=
        Params(asked).Integer(size) > Params(trained_on.params()).Integer(size);
  }
  if (!is_trained) LeaveOut(kTrainedMean, names);
  if (!is_larger) LeaveOut(kOutsideMean, names);
}

// The same of tasks that score lengths from the least to the most apart.
void LeaveOutOfLengths(const Entry& task, const ParamMap& asked,
                       const Data& trained_on, Names* names) {
  constexpr char kLeast[] = "min_length";
  constexpr char kMost[] = "max_length";
  int64_t trained = 0;
  int64_t trained_at_most = 0;
  if (trained_on.task() == task.name) {
    const Params params(trained_on.params());
    trained = params.Integer(kMost);
    trained_at_most = trained;
    // Some tasks raise the most to the least.
    if (FindParam(*Find(Kind::kTrainingTask, task.name), kLeast) != nullptr) {
      trained_at_most = std::max(trained, params.Integer(kLeast));
    }
  }
  const Params params(asked);
  const int64_t least = params.Integer(kLeast);
  if (std::max(least, params.Integer(kMost)) <= trained) {
    LeaveOut(kScore, names);
  }
  if (least > trained_at_most) LeaveOut(kTrainedMean, names);
}

// What the training tells of the scores at one length, or from one to another.
void LeaveOutOfOne(const Entry& task, const ParamMap& asked,
                   const Data& trained_on, Names* names) {
  const auto has = [names](const char* name) {
    return std::find(names->begin(), names->end(), name) != names->end();
  };
  if (has(kOutsideMean)) LeaveOutOfGrid(task, asked, trained_on, names);
  // Lengths of passkey are of its filler, and not all numbers of actions are of
  // a command of scan.
  if (has(kScore) && task.name != "passkey" && task.name != "scan") {
    LeaveOutOfLengths(task, asked, trained_on, names);
  }
}

// The same where lengths are parts of the task.
void LeaveOutOfParts(const Entry& task, const ParamMap& asked,
                     const Data& trained_on, Names* names) {
  const std::vector<int64_t> lengths = LengthsOf(task, asked);
  const int64_t trained = TrainedLength(task, &trained_on);
  const bool is_known = lengths.size() == NumLengths(asked);
  if (is_known && (trained == 0 || lengths.back() <= trained)) {
    LeaveOut(kErrorLonger, names);
  }
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether the name is that text, whose last part may stand for a number.
bool Matches(std::string_view name, std::string_view metric) {
  const size_t bracket = name.find('<');
  if (bracket == std::string_view::npos) return metric == name;
  return metric.substr(0, bracket) == name.substr(0, bracket) &&
         metric.size() > bracket && IsNumber(metric.substr(bracket));
}

}  // namespace

std::vector<std::string> MetricNames(const Entry& task, const ParamMap& params,
                                     const Data* trained_on) {
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows),
                   [&task](const Row& one) { return task.name == one.task; });
  if (task.kind != Kind::kEvaluationTask || row == std::end(kRows)) return {};
  Names names = row->names(params);
  const Names lengths = LengthTexts(task, params);
  if (lengths.empty()) {
    if (trained_on != nullptr) LeaveOutOfOne(task, params, *trained_on, &names);
    return names;
  }
  if (!task.evaluation.length.params.empty()) {
    names = OfParts(names, lengths);
    if (trained_on != nullptr) {
      LeaveOutOfParts(task, params, *trained_on, &names);
    }
    return names;
  }
  const Names own = names;
  for (const std::string& name : own) AddAtLengths(name, lengths, &names);
  return names;
}

bool IsMetricName(const std::vector<std::string>& names,
                  std::string_view metric) {
  return std::any_of(
      names.begin(), names.end(),
      [metric](const std::string& name) { return Matches(name, metric); });
}

std::vector<std::string> TasksWithMetricNames() {
  Names names;
  for (const Row& row : kRows) names.emplace_back(row.task);
  return names;
}

}  // namespace ordo::model::catalog
