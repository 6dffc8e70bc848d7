#include <algorithm>
#include <utility>

#include "model/catalog/entries.h"

// Tasks of training and of evaluation.

namespace ordo::model::catalog {
namespace {

// PAD, UNK, BOS, EOS, ten digits, + - x = and space.
constexpr int kArithmeticVocabulary = 19;

constexpr char kMcLeish[] = "McLeish et al. 2024, arXiv:2405.17399";

// Two operands, + and =, and a sum of one digit more; the end is not fed.
int64_t AdditionLength(const ParamMap& params) {
  return 3 * Params(params).Integer("max_digits") + 3;
}

// A product has as many digits as its operands have together.
int64_t MultiplicationLength(const ParamMap& params) {
  return 4 * Params(params).Integer("max_digits") + 2;
}

int64_t BitwiseOrLength(const ParamMap& params) {
  return 3 * Params(params).Integer("max_bits") + 2;
}

// Of each number its digits, a label twice, two marks of the row between them
// and one of the answer; the end is not fed.
int64_t SortingLength(const ParamMap& map) {
  const Params params(map);
  return (params.Integer("max_digits") + 5) * params.Integer("max_numbers") - 1;
}

// Cells of a grid.
template <const char* kFirst, const char* kSecond>
int64_t Cells(const ParamMap& map) {
  const Params params(map);
  return params.Integer(kFirst) * params.Integer(kSecond);
}

constexpr char kMaxDigits[] = "max_digits";
constexpr char kMaxBits[] = "max_bits";
constexpr char kMaxNumbers[] = "max_numbers";

Param Rows() {
  return Integer("rows", 0, {0, 1e9, "rows"},
                 "Rows of a set that training goes through again and again, "
                 "each time in another order, with all pairs of lengths "
                 "equally often; 0: no row comes twice.");
}

// A task of two lengths and its grid, whose name has _grid behind it.
struct PairsText {
  std::string name;
  std::string text;
  std::string grid_text;
  // As in EvaluationTraits.
  std::string notation = {};
};

constexpr char kReversed[] = "numbers have their least significant digit first";

Entry PairsEntry(const PairsText& about, RowLength row_length,
                 std::vector<Param> lengths) {
  Entry entry;
  entry.kind = Kind::kTrainingTask;
  entry.name = about.name;
  entry.text = about.text;
  entry.source = kMcLeish;
  entry.params = std::move(lengths);
  entry.vocabulary = "arithmetic";
  entry.vocabulary_size = kArithmeticVocabulary;
  entry.row_length = row_length;
  return entry;
}

struct GridSizes {
  RowLength row_length;
  ItemCount cells;
};

Entry GridEntry(const PairsText& about, const GridSizes& sizes,
                std::vector<Param> lengths) {
  Entry entry = PairsEntry(about, sizes.row_length, std::move(lengths));
  entry.kind = Kind::kEvaluationTask;
  entry.evaluation.items_per_sample = sizes.cells;
  entry.evaluation.notation = about.notation;
  entry.name += "_grid";
  entry.text = about.grid_text;
  entry.params.push_back(Integer("samples", 20, {1, 100000, "samples"},
                                 "Samples per cell of the grid."));
  return entry;
}

Param MaxDigits(int64_t digits, std::string text) {
  return Integer("max_digits", digits, {1, 1000, "digits"}, std::move(text));
}

std::vector<Entry> AdditionEntries() {
  const PairsText about = {
      "addition",
      "Sums of two numbers, least significant digit first; the "
      "lengths of both are uniform over 1..max_digits.",
      "Exact-match accuracy of sums for each pair of operand lengths "
      "up to max_digits by max_digits.",
      kReversed};
  // No set of rows: a run that was begun without one could not be resumed with
  // one more parameter.
  return {
      PairsEntry(about, AdditionLength,
                 {MaxDigits(5, "Most digits of an operand.")}),
      OfVersion(
          2, GridEntry(about, {AdditionLength, Cells<kMaxDigits, kMaxDigits>},
                       {MaxDigits(10,
                                  "Most digits of an operand, the "
                                  "side of the grid.")}))};
}

std::vector<Entry> MultiplicationEntries() {
  const PairsText about = {
      "multiplication",
      "Products of two numbers, least significant digit first; the "
      "lengths of both are uniform over 1..max_digits.",
      "Exact-match accuracy of products for each pair of operand lengths "
      "up to max_digits by max_digits.",
      kReversed};
  return {PairsEntry(about, MultiplicationLength,
                     {MaxDigits(5, "Most digits of an operand."), Rows()}),
          OfVersion(2, GridEntry(about,
                                 {MultiplicationLength,
                                  Cells<kMaxDigits, kMaxDigits>},
                                 {MaxDigits(10,
                                            "Most digits of an operand, the "
                                            "side of the grid.")}))};
}

std::vector<Entry> BitwiseOrEntries() {
  const PairsText about = {
      "bitwise_or",
      "Two strings of bits from the same end, a single one of which is 1, and "
      "where either is; the lengths of both are uniform over 1..max_bits.",
      "Exact-match accuracy of the bits for each pair of lengths up to "
      "max_bits by max_bits."};
  return {PairsEntry(about, BitwiseOrLength,
                     {Integer("max_bits", 20, {1, 1000, "bits"},
                              "Most bits of a string."),
                      Rows()}),
          GridEntry(about, {BitwiseOrLength, Cells<kMaxBits, kMaxBits>},
                    {Integer("max_bits", 20, {1, 1000, "bits"},
                             "Most bits of a string, the side of the grid.")})};
}

std::vector<Entry> SortingEntries() {
  const PairsText about = {
      "sorting",
      "Labelled numbers, least significant digit first, and their labels in "
      "the order of the numbers; their most digits are uniform over "
      "1..max_digits, and how many there are over 1..max_numbers.",
      "Exact-match accuracy of the sorted labels for each number of digits up "
      "to max_digits and each of numbers up to max_numbers.",
      kReversed};
  const auto lengths = [] {
    return std::vector<Param>{
        MaxDigits(10, "Most digits of a number."),
        Integer("max_numbers", 10, {1, 102, "numbers"}, "Most numbers.")};
  };
  std::vector<Entry> entries = {
      PairsEntry(about, SortingLength, lengths()),
      GridEntry(about, {SortingLength, Cells<kMaxDigits, kMaxNumbers>},
                lengths())};
  entries[0].params.push_back(Rows());
  entries[1] = OfVersion(2, std::move(entries[1]));
  // The labels, and what stands between them.
  for (Entry& entry : entries) {
    entry.vocabulary = "sorting";
    entry.vocabulary_size = 118;
  }
  return entries;
}

// The last symbol is only said.
int64_t FlipFlopLength(const ParamMap& params) {
  return 2 * Params(params).Integer("pairs") - 1;
}

Entry FlipFlop() {
  Entry entry;
  entry.name = "flip_flop";
  entry.text =
      "Strings of instructions, each with a bit, to write, to read the bit "
      "that was written last, and to ignore; error over the bits read, by the "
      "distance to what was written.";
  entry.source = "Liu et al. 2023, arXiv:2306.00946";
  entry.params = {
      Integer("pairs", 256, {2, 32768, "pairs"},
              "Instructions of a string, each with its bit."),
      Number("ignore", 0.8, {0, 1},
             "Share of instructions that ignore; reads and writes share the "
             "rest. To the sixth decimal."),
  };
  entry.vocabulary_size = 5;
  entry.row_length = FlipFlopLength;
  return entry;
}

// Where symbols follow the input the last one is only said.
int64_t SelectiveCopyLength(const ParamMap& map) {
  const Params params(map);
  return 2 * params.Integer("symbols") + params.Integer("blanks") -
         (params.String("layout") == "autoregressive" ? 1 : 0);
}

bool HasMarkers(const ParamMap& params) {
  return Params(params).String("layout") == "markers";
}

Entry SelectiveCopy() {
  Entry entry;
  entry.name = "selective_copy";
  entry.text =
      "Copying symbols in their order and leaving out the blanks among them; "
      "error over rows and over symbols.";
  entry.source = "Gu and Dao 2023, arXiv:2312.00752";
  entry.params = {
      Integer("symbols", 256, {1, 65536, "tokens"}, "Symbols to copy."),
      Integer("blanks", 256, {0, 65536, "tokens"}, "Blanks among them."),
      Choice("layout", {"autoregressive", "separated", "markers"},
             "Whether the symbols follow the input, at once or after a "
             "separator, or are said at markers that follow it."),
  };
  entry.vocabulary_size = 16;
  entry.row_length = SelectiveCopyLength;
  entry.answers_in_place = HasMarkers;
  return entry;
}

// Of up to four tokens an operation, and three of the question with its answer,
// which is only said.
int64_t CountingLength(const ParamMap& map) {
  const Params params(map);
  return std::min(params.Integer("max_tokens"),
                  4 * params.Integer("max_operations") + 3) -
         1;
}

Entry Counting() {
  Entry entry;
  entry.name = "counting";
  entry.text =
      "Counting how often a variable was raised since it was last set to 0, "
      "through operations that do nothing; error over the answers.";
  entry.source = "Golovneva et al. 2024, arXiv:2405.18719";
  entry.params = {
      Integer("variables", 1, {1, 26, "variables"}, "Names that there are."),
      Integer("max_operations", 512, {3, 65536, "operations"},
              "Most operations of a row; the fewest are 3."),
      Integer("pass", 50, {0, 1000, "1"},
              "Weight of doing nothing, where that of setting is 1 and that "
              "of raising 7."),
      Integer("max_tokens", 512, {8, 1000000, "tokens"},
              "Longest row; longer ones lose their left end."),
  };
  entry.vocabulary_size = 44;
  entry.row_length = CountingLength;
  return entry;
}

}  // namespace

Param Samples(int64_t samples, std::string text) {
  return Integer("samples", samples, {1, 1000000, "rows"}, std::move(text));
}

Entry OfKind(Kind kind, Entry entry, std::vector<Param> own) {
  entry.kind = kind;
  for (Param& param : own) entry.params.push_back(std::move(param));
  return entry;
}

Entry OfVersion(int version, Entry entry) {
  entry.evaluation.version = version;
  return entry;
}

Entry OfScores(ItemScores scores, Entry entry) {
  entry.evaluation.item_scores = scores;
  return entry;
}

std::vector<Entry> TaskEntries() {
  constexpr Kind kTraining = Kind::kTrainingTask;
  constexpr Kind kEvaluation = Kind::kEvaluationTask;
  std::vector<Entry> entries = {
      OfKind(kTraining, FlipFlop(),
             {Choice("loss", {"clean", "full"},
                     "Whether the bits read count, or every symbol.")}),
      WithLengths(
          {{"pairs"}, "flip_flop", "pairs"},
          OfScores(ItemScores::kShares,
                   OfKind(kEvaluation, FlipFlop(),
                          {Samples(1000, "Rows that are asked for.")}))),
      OfKind(kTraining, SelectiveCopy()),
      WithLengths(
          {{"blanks"}, "selective_copy", "blanks"},
          OfVersion(2, OfKind(kEvaluation, SelectiveCopy(),
                              {Samples(10000, "Rows that are asked for.")}))),
      OfKind(kTraining, Counting(),
             {Integer("rows", 10000, {0, 1e9, "rows"},
                      "Rows of the set that training goes through again and "
                      "again, each time in another order; 0: no row comes "
                      "twice.")}),
      WithLengths(
          {{"max_operations"}, "counting", "max_operations", "max_tokens"},
          OfVersion(2, OfKind(kEvaluation, Counting(),
                              {Samples(1000, "Rows that are asked for.")}))),
  };
  for (const auto pairs : {AdditionEntries, MultiplicationEntries,
                           BitwiseOrEntries, SortingEntries}) {
    for (Entry& entry : pairs()) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace ordo::model::catalog
