#include "model/catalog/entries.h"

#include "absl/strings/str_cat.h"

namespace ordo::model::catalog {
namespace {

Param Integer(std::string name, int64_t value, double min, double max,
              std::string text) {
  return {std::move(name), ParamType::kInteger, value, min, max, {},
          std::move(text)};
}

Param Bool(std::string name, bool value, std::string text) {
  return {std::move(name), ParamType::kBool, value, {}, {}, {},
          std::move(text)};
}

Param Choice(std::string name, std::vector<std::string> choices,
             std::string text) {
  std::string value = choices.front();
  return {std::move(name),    ParamType::kString, std::move(value), {}, {},
          std::move(choices), std::move(text)};
}

Entry None() {
  Entry entry;
  entry.kind = Kind::kEncoding;
  entry.name = "none";
  entry.text = "No positional encoding: nothing but the causal mask.";
  entry.source = "Kazemnejad et al. 2023, arXiv:2305.19466";
  return entry;
}

std::optional<base::FieldViolation> CheckTurningChannels(const ParamMap& params,
                                                         int head_width) {
  const int channels = TurningChannels(params, head_width);
  if (channels % 2 == 0) return std::nullopt;
  return base::FieldViolation{
      "params.partial",
      absl::StrCat("gives ", channels, " of ", head_width,
                   " channels to turn; the number must be even")};
}

Entry Rope() {
  Entry entry;
  entry.kind = Kind::kEncoding;
  entry.name = "rope";
  entry.text =
      "Rotary encoding: pairs of channels of q and k turn by angles "
      "that grow with the position.";
  entry.source = "Su et al. 2021, arXiv:2104.09864";
  Param base{"base",
             ParamType::kNumber,
             10000.0,
             1.0,
             1e9,
             {},
             "Base of the frequencies: pair f of r channels turns by "
             "position * base^(-2f/r)."};
  Param partial{"partial",
                ParamType::kNumber,
                1.0,
                0.0,
                1.0,
                {},
                "Share of each head's channels that turn; the rest stay as "
                "they are."};
  entry.params = {
      base,
      partial,
      Choice("layout", {"half_split", "interleaved"},
             "Which channels make a pair: (f, f + r/2) as in Hugging Face's "
             "Llama, or (2f, 2f + 1) as in the original."),
  };
  entry.check_head_width = CheckTurningChannels;
  return entry;
}

Entry Tape() {
  Entry entry;
  entry.kind = Kind::kEncoding;
  entry.name = "tape";
  entry.text =
      "Contextualised equivariant encoding: each token carries "
      "rotations that attention and MLP update from layer to layer.";
  entry.source = "Zhu et al. 2025, arXiv:2501.00712";
  entry.params = {
      Integer("position_size", 48, 1, 65536,
              "Inner width B' of the position MLP."),
      Choice("reading", {"canonical"},
             "Which reading of the paper: canonical mixes heads by a full "
             "matrix and leaves the last layer's state alone."),
      Bool("attention_update", true,
           "Whether attention updates the state (the paper's equation 7)."),
      Bool("mlp_update", true,
           "Whether the MLP updates the state (the paper's equation 8)."),
  };
  // What the state starts from; rope with its defaults when left out.
  entry.with = {"rope"};
  entry.max_with = 1;
  return entry;
}

// PAD, UNK, BOS, EOS, ten digits, + - x = and space.
constexpr int kArithmeticVocabulary = 19;

Entry Addition() {
  Entry entry;
  entry.kind = Kind::kTrainingTask;
  entry.name = "addition";
  entry.text =
      "Sums of two numbers, least significant digit first; the "
      "lengths of both are uniform over 1..max_digits.";
  entry.source = "McLeish et al. 2024, arXiv:2405.17399";
  entry.params = {
      Integer("max_digits", 5, 1, 1000, "Most digits of an operand."),
  };
  entry.vocabulary_size = kArithmeticVocabulary;
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
      Integer("max_digits", 10, 1, 1000,
              "Most digits of an operand, the side of the grid."),
      Integer("samples", 20, 1, 100000, "Samples per cell of the grid."),
  };
  entry.vocabulary_size = kArithmeticVocabulary;
  return entry;
}

}  // namespace

int TurningChannels(const ParamMap& params, int head_width) {
  return static_cast<int>(Params(params).Number("partial") * head_width);
}

std::vector<Entry> AllEntries() {
  return {None(), Rope(), Tape(), Addition(), AdditionGrid()};
}

}  // namespace ordo::model::catalog
