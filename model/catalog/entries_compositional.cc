#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/catalog/entries.h"

// Commands and expressions that are put together from parts.

namespace ordo::model::catalog {
namespace {

// Words of the longest prompt of scan.
constexpr int64_t kScanPrompt = 11;
constexpr int kMaxActions = 48;

// Whether a command stands for so many actions: one phrase, or two.
bool HasCommand(int64_t actions) {
  constexpr int64_t kPhrases[] = {1, 2, 3, 4, 6, 8, 9, 12, 16, 24};
  for (const int64_t first : kPhrases) {
    if (first == actions) return true;
    for (const int64_t second : kPhrases) {
      if (first + second == actions) return true;
    }
  }
  return false;
}

// Numbers of actions of the commands that are asked for, rising: where no
// command has one of the range, the next above it.
std::vector<int64_t> ActionsOf(const ParamMap& map) {
  const Params params(map);
  int64_t actions = params.Integer("min_actions");
  while (!HasCommand(actions)) ++actions;
  const int64_t most = std::max(actions, params.Integer("max_actions"));
  std::vector<int64_t> all;
  for (; actions <= most; ++actions) {
    if (HasCommand(actions)) all.push_back(actions);
  }
  return all;
}

// The end mark is only said.
int64_t ScanLength(const ParamMap& params) {
  return kScanPrompt + ActionsOf(params).back();
}

int64_t ScanCounts(const ParamMap& params) {
  return static_cast<int64_t>(ActionsOf(params).size());
}

Entry Scan(Kind kind, std::pair<int64_t, int64_t> actions,
           std::vector<Param> own) {
  const Range range = {1, kMaxActions, "actions"};
  Entry entry;
  entry.name = "scan";
  entry.text =
      "The commands of SCAN and the actions that they stand for, by the number "
      "of actions. Exact match of actions by their number.";
  entry.source = "Lake and Baroni 2018, arXiv:1711.00350";
  entry.params = {
      Integer("min_actions", actions.first, range,
              "Fewest actions of a command; where none has so many, the next "
              "number up."),
      Integer("max_actions", actions.second, range,
              "Most actions; at least the fewest."),
  };
  entry.vocabulary_size = 25;
  entry.row_length = ScanLength;
  if (kind == Kind::kEvaluationTask) {
    entry.evaluation.items_per_sample = ScanCounts;
    // A command may be drawn more than once.
    entry.evaluation.shares_units = true;
  }
  return OfKind(kind, std::move(entry), std::move(own));
}

// Words of a prompt and its answer with n functions, at most.
int64_t PcfgWords(int64_t n) {
  constexpr int64_t kMaxString = 5;
  constexpr int64_t kMaxSymbols = 100;
  int64_t answer = kMaxString;
  for (int64_t i = 0; i < n && answer < kMaxSymbols; ++i) answer *= 2;
  return 2 * n + kMaxString * (n + 1) + 2 + std::min(answer, kMaxSymbols);
}

int64_t MostFunctions(const ParamMap& map) {
  const Params params(map);
  return std::max(params.Integer("min_length"), params.Integer("max_length"));
}

// The end mark is only said.
int64_t PcfgLength(const ParamMap& params) {
  return PcfgWords(MostFunctions(params));
}

int64_t PcfgLengths(const ParamMap& params) {
  return MostFunctions(params) - Params(params).Integer("min_length") + 1;
}

Entry Pcfg(Kind kind, int64_t max_length, std::vector<Param> own) {
  const Range range = {1, 30, "functions"};
  Entry entry;
  entry.name = "pcfg";
  entry.text =
      "Functions of strings applied to each other, and the string that comes "
      "out, by the number of functions. Exact match of strings by it.";
  entry.source = "Hupkes et al. 2020, arXiv:1908.08351";
  entry.params = {
      Integer("min_length", 1, range, "Fewest functions."),
      Integer("max_length", max_length, range,
              "Most functions; at least the fewest."),
  };
  entry.vocabulary_size = 537;
  entry.row_length = PcfgLength;
  if (kind == Kind::kEvaluationTask) {
    entry.evaluation.items_per_sample = PcfgLengths;
  }
  return OfKind(kind, std::move(entry), std::move(own));
}

}  // namespace

std::vector<Entry> CompositionalEntries() {
  return {
      Scan(Kind::kTrainingTask, {1, 25}, {}),
      Scan(Kind::kEvaluationTask, {1, 48},
           {Samples(100, "Commands of each number of actions.")}),
      Pcfg(Kind::kTrainingTask, 8,
           {Integer("rows", 0, {0, 1e9, "rows"},
                    "Rows of a set that training goes through again and again, "
                    "each time in another order; 0: no row comes twice.")}),
      WithLengths({{"min_length", "max_length"}, "pcfg", "max_length"},
                  Pcfg(Kind::kEvaluationTask, 16,
                       {Samples(100, "Rows of each number of functions.")})),
  };
}

}  // namespace ordo::model::catalog
