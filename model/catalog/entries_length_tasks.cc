#include <algorithm>
#include <string>
#include <utility>

#include "model/catalog/entries.h"

// Tasks whose rows have a length, to train up to one and to ask beyond it.

namespace ordo::model::catalog {
namespace {

// Outputs of an input of n symbols.
enum class Outputs { kOne, kHalf, kSame, kOneMore, kTwice };

struct RuossTask {
  const char* name;
  Outputs outputs;
};

// By the level of the language that they are of.
constexpr RuossTask kRuossTasks[] = {
    {"even_pairs", Outputs::kOne},
    {"modular_arithmetic", Outputs::kOne},
    {"parity_check", Outputs::kOne},
    {"cycle_navigation", Outputs::kOne},
    {"stack_manipulation", Outputs::kOneMore},
    {"reverse_string", Outputs::kSame},
    {"modular_arithmetic_brackets", Outputs::kOne},
    {"solve_equation", Outputs::kOne},
    {"duplicate_string", Outputs::kTwice},
    {"missing_duplicate", Outputs::kOne},
    {"odds_first", Outputs::kSame},
    {"binary_addition", Outputs::kOneMore},
    {"binary_multiplication", Outputs::kSame},
    {"square_root", Outputs::kHalf},
    {"bucket_sort", Outputs::kSame},
};

int64_t NumOutputs(const std::string& task, int64_t n) {
  for (const RuossTask& row : kRuossTasks) {
    if (task != row.name) continue;
    switch (row.outputs) {
      case Outputs::kOne:
        return 1;
      case Outputs::kHalf:
        return (n + 1) / 2;
      case Outputs::kSame:
        return n;
      case Outputs::kOneMore:
        return n + 1;
      case Outputs::kTwice:
        return 2 * n;
    }
  }
  return 0;
}

int64_t RuossLengthOf(const Params& params, int64_t n) {
  const std::string task = params.String("task");
  // There are none of even length.
  if (task == "modular_arithmetic") n -= (n + 1) % 2;
  return n + NumOutputs(task, n);
}

int64_t RuossLength(const ParamMap& map) {
  const Params params(map);
  return RuossLengthOf(params, params.Integer("max_length"));
}

// Of the last step.
int64_t RuossLongest(const ParamMap& map) {
  const Params params(map);
  const int64_t least = params.Integer("min_length");
  const int64_t step = params.Integer("length_step");
  const int64_t most = std::max(least, params.Integer("max_length"));
  return RuossLengthOf(params, least + (most - least) / step * step);
}

// Of lengths from the least on, by steps.
int64_t RuossLengths(const ParamMap& map) {
  const Params params(map);
  const int64_t least = params.Integer("min_length");
  const int64_t most = std::max(least, params.Integer("max_length"));
  return (most - least) / params.Integer("length_step") + 1;
}

bool Always(const ParamMap& /*params*/) { return true; }

Entry Ruoss() {
  Entry entry;
  entry.name = "ruoss";
  entry.text =
      "Fifteen tasks of regular, context-free and context-sensitive languages; "
      "outputs are said at empty symbols behind the input, for models with "
      "causal: false. Accuracy of outputs by the input's length.";
  entry.source = "Ruoss et al. 2023, arXiv:2305.16843";
  std::vector<std::string> names;
  for (const RuossTask& row : kRuossTasks) names.emplace_back(row.name);
  entry.params = {Choice("task", std::move(names), "Which of them.")};
  entry.vocabulary_size = 13;
  entry.answers_in_place = Always;
  return entry;
}

Entry RuossForTraining() {
  Entry entry = OfKind(
      Kind::kTrainingTask, Ruoss(),
      {Integer("max_length", 40, {1, 10000, "symbols"},
               "Longest input; lengths are uniform from 1 on."),
       Integer("rows_per_length", 128, {1, 1000000, "rows"},
               "Consecutive rows of one length, so that a batch of as many has "
               "no padding.")});
  entry.row_length = RuossLength;
  return entry;
}

Entry RuossForEvaluation() {
  Entry entry = OfKind(
      Kind::kEvaluationTask, Ruoss(),
      {Integer("min_length", 41, {1, 10000, "symbols"}, "Shortest input."),
       Integer("max_length", 100, {1, 10000, "symbols"},
               "Longest input; at least the shortest."),
       Integer("length_step", 1, {1, 10000, "symbols"},
               "From one length to the next."),
       Samples(512, "Rows of each length.")});
  entry.row_length = RuossLongest;
  entry.evaluation.items_per_sample = RuossLengths;
  return WithLengths({{"min_length", "max_length"}, "ruoss", "max_length"},
                     OfScores(ItemScores::kShares, std::move(entry)));
}

// Lengths from the least on, one by one.
int64_t Lengths(const ParamMap& map) {
  const Params params(map);
  const int64_t least = params.Integer("min_length");
  return std::max(least, params.Integer("max_length")) - least + 1;
}

// Words of prompt and answer at length n: per_length * n + constant, at most.
struct NopeTask {
  const char* name;
  int64_t per_length;
  int64_t constant;
};

constexpr NopeTask kNopeTasks[] = {
    {"addition", 3, 8},       {"copy", 2, 2},       {"copy_one", 2, 2},
    {"copy_one_twice", 3, 2}, {"copy_twice", 3, 3}, {"lego", 5, 13},
    {"lego_permuted", 5, 13}, {"parity", 2, 16},    {"polynomial", 7, 12},
    {"replace", 2, 6},        {"reverse", 2, 2},    {"reverse_and_copy", 3, 3},
    {"reverse_twice", 3, 3},  {"sort", 4, 12},      {"sort_numbers", 10, 12},
    {"summation", 2, 6},
};

// Letters that variables are named by.
constexpr double kMaxNopeLength = 50;

// The end mark is only said.
int64_t NopeLength(const ParamMap& map) {
  const Params params(map);
  const int64_t n =
      std::max(params.Integer("min_length"), params.Integer("max_length"));
  for (const NopeTask& row : kNopeTasks) {
    if (params.String("task") == row.name) {
      return row.per_length * n + row.constant;
    }
  }
  return 0;
}

Entry Nope(Kind kind, int64_t max_length, std::vector<Param> own) {
  Entry entry;
  entry.name = "nope";
  entry.text =
      "Reasoning in words: copying, reversing, adding, polynomials, parity, "
      "sorting and chains of signs, by a length. Exact match of answers by "
      "length.";
  entry.source = "Kazemnejad et al. 2023, arXiv:2305.19466";
  std::vector<std::string> names;
  for (const NopeTask& row : kNopeTasks) names.emplace_back(row.name);
  // The main one of the authors first, which is the default.
  std::swap(names[0], names[1]);
  entry.params = {
      Choice("task", std::move(names), "Which of them."),
      Integer("min_length", 4, {2, kMaxNopeLength, "1"}, "Shortest length."),
      Integer("max_length", max_length, {2, kMaxNopeLength, "1"},
              "Longest length; at least the shortest."),
  };
  entry.vocabulary_size = 141;
  entry.row_length = NopeLength;
  if (kind == Kind::kEvaluationTask) {
    entry.evaluation.items_per_sample = Lengths;
  }
  return OfKind(kind, std::move(entry), std::move(own));
}

// Of a prompt with the longest key, and of its answer with the end mark.
constexpr int64_t kPasskeyPrompt = 247;
constexpr int64_t kPasskeyAnswer = 7;

// At the greatest length.
int64_t PasskeyPromptLength(int64_t length, int64_t unit) {
  const int64_t filler =
      unit == 0 ? 3750 * length / 1024 * 1024 : length * unit;
  return filler + kPasskeyPrompt;
}

// The end mark is only said.
int64_t PasskeyLength(const ParamMap& map) {
  const Params params(map);
  return PasskeyPromptLength(params.Integer("max_length"),
                             params.Integer("filler")) +
         kPasskeyAnswer - 1;
}

// The last byte of the key is only said, and no end mark asked for. In the
// tokens of a file it is not known; each word and full stop of the filler, 24
// in 90 characters, is a token at least.
int64_t PasskeyLongest(const ParamMap& map) {
  const Params params(map);
  const int64_t length =
      std::max(params.Integer("min_length"), params.Integer("max_length"));
  const int64_t prompt = PasskeyPromptLength(length, params.Integer("filler"));
  if (NamesTokenizerFile(map)) return (prompt - kPasskeyPrompt) * 24 / 90;
  return prompt + kPasskeyAnswer - 2;
}

// Of each length those of each depth.
int64_t PasskeyItems(const ParamMap& map) {
  const Params params(map);
  const int64_t depths = params.Has("depths") ? params.Integer("depths") : 0;
  return Lengths(map) * std::max<int64_t>(1, depths);
}

Param Depths() {
  Param depths =
      Integer("depths", 0, {0, 100, "1"},
              "Questions are asked with the key at so many depths, at even "
              "steps of the filler from its beginning on; 0: where the "
              "benchmark draws it.");
  depths.filled_in = false;
  return depths;
}

// Lengths of which an evaluation asks, or the longest that training has.
Range PasskeyLengths() { return {1, 1000, "1"}; }

Entry Passkey(Kind kind, int64_t max_length, std::vector<Param> own) {
  Entry entry;
  entry.name = "passkey";
  entry.text =
      "Finding a number in filler, each byte a token; evaluation asks the "
      "benchmark's questions, also in the tokens of a file. Exact match of "
      "numbers by length.";
  entry.source = "Mohtashami and Jaggi 2023, arXiv:2305.16300";
  entry.params = {
      Integer("max_length", max_length, PasskeyLengths(),
              "Longest length; training has filler of 1 character up to "
              "that of this length."),
      Integer("filler", 0, {0, 1e6, "characters"},
              "Filler of a length is as often this; 0: the benchmark's, 3750 "
              "characters for each 1, down to a multiple of 1024."),
  };
  entry.vocabulary = kByteTokenizer;
  entry.vocabulary_size = 260;
  return OfKind(kind, std::move(entry), std::move(own));
}

Entry PasskeyForTraining() {
  Entry entry = Passkey(Kind::kTrainingTask, 1, {});
  entry.row_length = PasskeyLength;
  return entry;
}

Entry PasskeyForEvaluation() {
  Entry entry =
      Passkey(Kind::kEvaluationTask, 8,
              {Integer("min_length", 1, PasskeyLengths(), "Shortest length."),
               Depths(), Samples(20, "Questions of each length and depth.")});
  entry.row_length = PasskeyLongest;
  entry.evaluation.items_per_sample = PasskeyItems;
  // Tests of the same number have the same seed at each length.
  entry.evaluation.shares_units = true;
  // 4: passes of numbers that are said in words are filled up, however few
  // prompts have a length.
  return WithLengths({{"min_length", "max_length"}, "passkey", "max_length"},
                     OfVersion(4, InTokens(std::move(entry))));
}

}  // namespace

std::vector<Entry> LengthTaskEntries() {
  return {
      RuossForTraining(),
      RuossForEvaluation(),
      PasskeyForTraining(),
      PasskeyForEvaluation(),
      Nope(Kind::kTrainingTask, 20,
           {Integer("rows", 0, {0, 1e9, "rows"},
                    "Rows of a set that training goes through again and "
                    "again, each time in another order; 0: no row comes "
                    "twice.")}),
      WithLengths({{"min_length", "max_length"}, "nope", "max_length"},
                  OfVersion(2, Nope(Kind::kEvaluationTask, 40,
                                    {Samples(100, "Rows of each length.")})))};
}

}  // namespace ordo::model::catalog
