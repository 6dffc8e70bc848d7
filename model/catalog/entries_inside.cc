#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"

// Evaluations of what goes on inside of a model: of its attention and of its
// encoding's positions. They read text as perplexity does; of a model that was
// trained on something else without data being named, rows of its training
// task.

namespace ordo::model::catalog {
namespace {

using Violations = std::vector<base::FieldViolation>;

constexpr char kText[] = "text";
constexpr char kMaxLength[] = "max_length";
constexpr int kMaxListed = 16;

// Tokens of the longest row where nothing says more: those of the papers.
struct Lengths {
  int64_t usual = 1024;
  int64_t most = 4096;
};
constexpr Lengths kOfTexts = {1024, 4096};
constexpr Lengths kOfMaps = {96, 128};

// max_length, or what stands for 0.
template <const Lengths& kLengths>
int64_t Longest(const ParamMap& params) {
  const int64_t length = Params(params).Integer(kMaxLength);
  return length > 0 ? length : kLengths.usual;
}

// Also read with as many tokens or positions in front.
int64_t LongestShifted(const ParamMap& params) {
  return Longest<kOfTexts>(params) + Params(params).Integer("shift");
}

bool AnyAnswer(const ParamMap& /*params*/) { return true; }

void CheckWholeNumbers(std::string_view field, const std::string& name,
                       const std::vector<double>& numbers,
                       Violations* violations) {
  if (numbers.size() > kMaxListed) {
    violations->push_back({ParamPath(field, name),
                           absl::StrCat("has ", numbers.size(),
                                        " numbers; at most ", kMaxListed)});
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string path = absl::StrCat(ParamPath(field, name), "[", i, "]");
    if (numbers[i] != std::floor(numbers[i])) {
      violations->push_back(
          {path, absl::StrCat("must be an integer, is ", numbers[i])});
    } else if (std::count(numbers.begin(), numbers.begin() + i, numbers[i])) {
      violations->push_back(
          {path, absl::StrCat(numbers[i], " is there twice")});
    }
  }
}

void CheckInside(std::string_view field, const ParamMap& map,
                 Violations* violations) {
  CheckTextEvaluated(field, map, violations);
  const Params params(map);
  CheckWholeNumbers(field, "layers", params.Numbers("layers"), violations);
  if (map.count("heads") == 0) return;
  CheckWholeNumbers(field, "heads", params.Numbers("heads"), violations);
}

// What all three have alike.
constexpr char kNamesake[] = "stability";

template <const Lengths& kLengths>
void TakeRows(std::string_view field,
              const ordo::training::v1::Data& trained_on, ParamMap* params,
              Violations* violations) {
  const Entry* task = Find(Kind::kTrainingTask, trained_on.task());
  if (task == nullptr) return;
  if (trained_on.task() == kText) {
    TakeTextTrainedOn(
        {*Find(Kind::kEvaluationTask, kNamesake), field, trained_on}, params,
        violations);
  }
  using google::protobuf::Value;
  Value& length = (*params)[kMaxLength];
  const bool is_zero =
      length.kind_case() == Value::kNumberValue && length.number_value() == 0;
  if (length.kind_case() != Value::KIND_NOT_SET && !is_zero) return;
  length.set_number_value(static_cast<double>(
      std::min(kLengths.usual, task->row_length(trained_on.params()))));
}

template <const Lengths& kLengths>
Entry Inside(const char* name, int64_t samples) {
  Entry entry;
  entry.kind = Kind::kEvaluationTask;
  entry.name = name;
  entry.params = TextSource();
  for (Param& param : TextEvaluated()) entry.params.push_back(std::move(param));
  const std::vector<Param> own = {
      Samples(samples,
              "Texts that are read; of text at most as many as there "
              "are."),
      Integer("min_length", 128, {1, 4096, "tokens"},
              "Of text: of a shorter piece nothing is read, unless max_length "
              "is less."),
      Integer(kMaxLength, 0, {0, static_cast<double>(kLengths.most), "tokens"},
              absl::StrCat("Longer texts are cut; 0: as in training, at most ",
                           kLengths.usual, ".")),
      Numbers("layers", {1, 1000},
              "From 1; those that the model does not have are left out."),
      Choice("precision", {"fp32", "bf16"}, "In which the model computes."),
  };
  entry.params.insert(entry.params.end(), own.begin(), own.end());
  entry.vocabulary_of = TextVocabulary;
  entry.check_params = CheckInside;
  entry.from_training = TakeRows<kLengths>;
  entry.row_length = Longest<kLengths>;
  entry.evaluation.item_scores = ItemScores::kNone;
  // No token is asked for: a model may see what comes later.
  entry.answers_in_place = AnyAnswer;
  return entry;
}

Entry Stability() {
  Entry entry = Inside<kOfTexts>("stability", 100);
  entry.text =
      "How attention and positions change at layers (default 1, 2, 4, 8) when "
      "a text begins at later position ids, or behind marks of its beginning.";
  entry.source = "table 8 of TAPE, Zhu et al. 2025, arXiv:2501.00712";
  entry.params.push_back(
      Integer("shift", 3, {1, 64}, "Position ids, or marks, in front."));
  entry.row_length = LongestShifted;
  return entry;
}

Entry AttentionMap() {
  Entry entry = Inside<kOfMaps>("attention_map", 1);
  entry.text =
      "Attention's weights at layers (default the last): maps of the first "
      "text, and the mean of the diagonal; of encodings with a bias also those "
      "of the bias alone.";
  entry.source =
      "figure 7 of TAPE, Zhu et al. 2025, arXiv:2501.00712; figure 4 of CoPE, "
      "Golovneva et al. 2024, arXiv:2405.18719";
  entry.params.push_back(
      Numbers("heads", {1, 1000},
              "From 1: heads with maps of their own, beside the mean over all; "
              "those that the model does not have are left out."));
  return entry;
}

Entry PositionSimilarity() {
  Entry entry = Inside<kOfTexts>("position_similarity", 20);
  entry.text =
      "How the positions that turn q and k lie to each other at layers "
      "(default all), by distance and as maps of the first text; of the rotary "
      "family and TAPE.";
  entry.source = "section 4 of TAPE, Zhu et al. 2025, arXiv:2501.00712";
  return entry;
}

}  // namespace

std::vector<Entry> InsideEntries() {
  return {Stability(), AttentionMap(), PositionSimilarity()};
}

}  // namespace ordo::model::catalog
