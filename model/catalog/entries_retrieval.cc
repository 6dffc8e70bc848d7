#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"

// Questions about something in a long text, each byte of it a token, or of an
// evaluation in the tokens of a file. A length is that of a prompt with the
// tokens that are decoded after it.

namespace ordo::model::catalog {
namespace {

constexpr int kByteVocabulary = 260;
constexpr char kAllTasks[] = "all";

struct RulerTask {
  const char* name;
  // Its instructions, question and needles need so much.
  int64_t min_length;
};

constexpr RulerTask kRulerTasks[] = {
    {"cwe", 2048},
    {"fwe", 1024},
    {"niah_multikey_1", 1024},
    {"niah_multikey_2", 1024},
    {"niah_multikey_3", 1024},
    {"niah_multiquery", 1024},
    {"niah_multivalue", 1024},
    {"niah_single_1", 1024},
    {"niah_single_2", 1024},
    {"niah_single_3", 1024},
    {"vt", 1024},
};

Range Lengths(double least) { return {least, 1e6, "tokens"}; }

int64_t MostOf(const Params& params) {
  return std::max(params.Integer("min_length"), params.Integer("max_length"));
}

// The last token is only said.
int64_t LongestRow(const ParamMap& map) { return MostOf(Params(map)) - 1; }

// From the least on, each twice the one before.
std::vector<int64_t> Doublings(const Params& params) {
  std::vector<int64_t> lengths;
  for (int64_t length = params.Integer("min_length"); length <= MostOf(params);
       length *= 2) {
    lengths.push_back(length);
  }
  return lengths;
}

int64_t LongestDoubling(const ParamMap& map) {
  return Doublings(Params(map)).back() - 1;
}

int64_t RulerItems(const ParamMap& map) {
  const Params params(map);
  const bool all = params.String("task") == kAllTasks;
  const auto tasks = static_cast<int64_t>(all ? std::size(kRulerTasks) : 1);
  return tasks * static_cast<int64_t>(Doublings(params).size());
}

void CheckRuler(std::string_view field, const ParamMap& map,
                std::vector<base::FieldViolation>* violations) {
  CheckPromptTokens(field, map, violations);
  const Params params(map);
  const std::string task = params.String("task");
  const int64_t length = params.Integer("min_length");
  for (const RulerTask& row : kRulerTasks) {
    if ((task != kAllTasks && task != row.name) || length >= row.min_length) {
      continue;
    }
    violations->push_back(
        {ParamPath(field, "min_length"),
         absl::StrCat("must be at least ", row.min_length, " tokens for ",
                      row.name, ", is ", length, "; raise it",
                      task == kAllTasks ? ", or name another task" : "")});
    return;
  }
}

Entry Ruler(Kind kind, std::pair<int64_t, int64_t> lengths,
            std::vector<Param> own) {
  Entry entry;
  entry.name = "ruler";
  entry.text =
      "The tasks of RULER that need no data, each byte a token, or in the "
      "tokens "
      "of a file; sentences that are made up stand in the place of essays. "
      "Recall of what is asked for, by length.";
  entry.source = "Hsieh et al. 2024, arXiv:2404.06654";
  std::vector<std::string> names = {kAllTasks};
  for (const RulerTask& row : kRulerTasks) names.emplace_back(row.name);
  entry.params = {
      Choice("task", std::move(names),
             "Which of them, or each equally often. From 2048 tokens on with "
             "cwe, otherwise from 1024."),
      Integer("min_length", lengths.first, Lengths(1024),
              "Shortest prompt with what is decoded after it."),
      Integer("max_length", lengths.second, Lengths(1024),
              "Longest; at least the shortest. Lengths of an evaluation are "
              "each twice the one before."),
  };
  entry.vocabulary = kByteTokenizer;
  entry.vocabulary_size = kByteVocabulary;
  entry.check_params = CheckRuler;
  const bool asks = kind == Kind::kEvaluationTask;
  entry.row_length = asks ? LongestDoubling : LongestRow;
  if (asks) entry.evaluation.items_per_sample = RulerItems;
  entry.evaluation.item_scores = ItemScores::kShares;
  return OfKind(kind, std::move(entry), std::move(own));
}

int64_t NeedleItems(const ParamMap& map) {
  const Params params(map);
  return params.Integer("lengths") * params.Integer("depths");
}

Entry Needle(Kind kind, std::pair<int64_t, int64_t> lengths,
             std::vector<Param> own) {
  Entry entry;
  entry.name = "needle";
  entry.text =
      "A fact among sentences, at a depth of the text, and a question for it, "
      "each byte a token, or in the tokens of a file. Recall of its key words "
      "by length and depth.";
  entry.source = "Kamradt 2023, gkamradt/LLMTest_NeedleInAHaystack";
  entry.params = {
      Integer("min_length", lengths.first, Lengths(512),
              "Shortest prompt with what is decoded after it."),
      Integer("max_length", lengths.second, Lengths(512),
              "Longest; at least the shortest."),
  };
  entry.vocabulary = kByteTokenizer;
  entry.vocabulary_size = kByteVocabulary;
  entry.row_length = LongestRow;
  if (kind == Kind::kEvaluationTask) {
    entry.evaluation.items_per_sample = NeedleItems;
  }
  entry.evaluation.item_scores = ItemScores::kShares;
  return OfKind(kind, std::move(entry), std::move(own));
}

}  // namespace

std::vector<Entry> RetrievalEntries() {
  return {
      Ruler(Kind::kTrainingTask, {2048, 4096}, {}),
      WithLengths(
          {{"min_length", "max_length"}, "ruler", "max_length"},
          OfVersion(2, InTokens(Ruler(Kind::kEvaluationTask, {4096, 16384},
                                      {Samples(500,
                                               "Questions of each task "
                                               "and length.")})))),
      Needle(Kind::kTrainingTask, {512, 4096}, {}),
      OfVersion(
          2,
          InTokens(Needle(
              Kind::kEvaluationTask, {1000, 16000},
              {Integer("lengths", 35, {1, 1000, "1"},
                       "How many lengths, at even steps."),
               Integer("depths", 35, {1, 101, "1"},
                       "How many depths, at even steps from the beginning of "
                       "the text to its end."),
               Samples(1, "Questions of each length and depth.")}))),
  };
}

}  // namespace ordo::model::catalog
