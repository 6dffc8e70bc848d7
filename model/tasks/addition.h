#ifndef ORDO_MODEL_TASKS_ADDITION_H_
#define ORDO_MODEL_TASKS_ADDITION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "model/tasks/pairs.h"
#include "model/tasks/task.h"

// Addition of numbers whose lengths are drawn independently (McLeish et al.,
// "Transformers Can Do Arithmetic with the Right Embeddings", 2024): a row is
// A+B=C and an end mark, all three numbers reversed, one token per character.
// Multiplication is alike.

namespace ordo::model::tasks {

// Characters "0123456789+-x= " are tokens 4 to 18, after the shared ones.
// Encode drops blanks.
class ArithmeticTokenizer : public Tokenizer {
 public:
  int vocabulary_size() const override { return 19; }
  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override;
  std::string Decode(const std::vector<int64_t>& tokens) const override;
};

// Digits of a number, the least significant first.
using Digits = std::vector<uint8_t>;

// The sum of two numbers; no leading zero unless an operand has one.
Digits Add(const Digits& a, const Digits& b);

// The product, with as many digits as it needs; neither operand has a leading
// zero.
Digits Multiply(const Digits& a, const Digits& b);

// A number of exactly `num_digits` >= 1 digits, uniform over those; one digit
// is 1..9, never 0. Takes `num_digits` draws.
Digits DrawNumber(int num_digits, base::RandomSequence* random);

// A+B= or AxB= as the prompt, C and the end mark as the answer.
Question MakeAdditionQuestion(const Digits& a, const Digits& b);
Question MakeMultiplicationQuestion(const Digits& a, const Digits& b);

// A+B=C by the digits of A and B.
const Operation& Addition();
// AxB=C.
const Operation& Multiplication();

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_ADDITION_H_
