#include "model/catalog/entries.h"

// Tasks of training and of evaluation.

namespace ordo::model::catalog {
namespace {

// PAD, UNK, BOS, EOS, ten digits, + - x = and space.
constexpr int kArithmeticVocabulary = 19;

// Two operands, + and =, and a sum of one digit more; the end is not fed.
int64_t AdditionLength(const ParamMap& params) {
  return 3 * Params(params).Integer("max_digits") + 3;
}

Entry Addition() {
  Entry entry;
  entry.kind = Kind::kTrainingTask;
  entry.name = "addition";
  entry.text =
      "Sums of two numbers, least significant digit first; the "
      "lengths of both are uniform over 1..max_digits.";
  entry.source = "McLeish et al. 2024, arXiv:2405.17399";
  entry.params = {
      Integer("max_digits", 5, {1, 1000, "digits"},
              "Most digits of an operand."),
  };
  entry.vocabulary_size = kArithmeticVocabulary;
  entry.row_length = AdditionLength;
  return entry;
}

Entry AdditionGrid() {
  Entry entry;
  entry.kind = Kind::kEvaluationTask;
  entry.name = "addition_grid";
  entry.text =
      "Exact-match accuracy of sums for each pair of operand lengths "
      "up to max_digits by max_digits.";
  entry.source = "McLeish et al. 2024, arXiv:2405.17399";
  entry.params = {
      Integer("max_digits", 10, {1, 1000, "digits"},
              "Most digits of an operand, the side of the grid."),
      Integer("samples", 20, {1, 100000, "samples"},
              "Samples per cell of the grid."),
  };
  entry.vocabulary_size = kArithmeticVocabulary;
  entry.row_length = AdditionLength;
  return entry;
}

}  // namespace

std::vector<Entry> TaskEntries() { return {Addition(), AdditionGrid()}; }

}  // namespace ordo::model::catalog
