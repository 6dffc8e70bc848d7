#include "model/tasks/addition.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::model::tasks {
namespace {

constexpr std::string_view kCharacters = "0123456789+-x= ";
constexpr int64_t kFirstCharacter = 4;
constexpr int64_t kPlus = 14;
constexpr int64_t kTimes = 16;
constexpr int64_t kEquals = 17;

void Append(const Digits& digits, std::vector<int64_t>* tokens) {
  for (const uint8_t digit : digits) {
    tokens->push_back(kFirstCharacter + digit);
  }
}

Question MakeQuestion(const Digits& a, int64_t operation, const Digits& b,
                      const Digits& result) {
  Question question;
  Append(a, &question.prompt);
  question.prompt.push_back(operation);
  Append(b, &question.prompt);
  question.prompt.push_back(kEquals);
  Append(result, &question.answer);
  question.answer.push_back(kEnd);
  return question;
}

Question DrawAddition(int i, int j, base::RandomSequence* random) {
  const Digits a = DrawNumber(i, random);
  return MakeAdditionQuestion(a, DrawNumber(j, random));
}

Question DrawMultiplication(int i, int j, base::RandomSequence* random) {
  const Digits a = DrawNumber(i, random);
  return MakeMultiplicationQuestion(a, DrawNumber(j, random));
}

// Operands, the operation and =.
int PromptLength(int i, int j) { return i + j + 2; }
// A carry, and the end mark.
int SumLength(int i, int j) { return std::max(i, j) + 2; }
int ProductLength(int i, int j) { return i + j + 1; }

std::unique_ptr<Tokenizer> MakeTokenizer() {
  return std::make_unique<ArithmeticTokenizer>();
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ArithmeticTokenizer::Encode(
    std::string_view text) const {
  std::vector<int64_t> tokens;
  for (const char c : text) {
    // Training rows have no blanks, so the model has not learned what one is.
    if (c == ' ') continue;
    const size_t place = kCharacters.find(c);
    if (place == std::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "character '", std::string(1, c),
          "' has no token; write digits, +, -, x, = and blanks only"));
    }
    tokens.push_back(kFirstCharacter + static_cast<int64_t>(place));
  }
  return tokens;
}

std::string ArithmeticTokenizer::Decode(
    const std::vector<int64_t>& tokens) const {
  std::string text;
  for (const int64_t token : tokens) {
    if (token == kPad || token == kBegin || token == kEnd) continue;
    const int64_t place = token - kFirstCharacter;
    const bool known =
        place >= 0 && place < static_cast<int64_t>(kCharacters.size());
    text += known ? kCharacters[static_cast<size_t>(place)] : '?';
  }
  return text;
}

Digits Add(const Digits& a, const Digits& b) {
  Digits sum;
  int carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const int total =
        carry + (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0);
    sum.push_back(static_cast<uint8_t>(total % 10));
    carry = total / 10;
  }
  if (carry != 0) sum.push_back(static_cast<uint8_t>(carry));
  return sum;
}

Digits DrawNumber(int num_digits, base::RandomSequence* random) {
  Digits digits;
  for (int i = 0; i + 1 < num_digits; ++i) {
    digits.push_back(static_cast<uint8_t>(random->Int(10)));
  }
  digits.push_back(static_cast<uint8_t>(1 + random->Int(9)));
  return digits;
}

Digits Multiply(const Digits& a, const Digits& b) {
  Digits product(a.size() + b.size(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int carry = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const int total = product[i + j] + a[i] * b[j] + carry;
      product[i + j] = static_cast<uint8_t>(total % 10);
      carry = total / 10;
    }
    product[i + b.size()] = static_cast<uint8_t>(carry);
  }
  if (product.back() == 0) product.pop_back();
  return product;
}

Question MakeAdditionQuestion(const Digits& a, const Digits& b) {
  return MakeQuestion(a, kPlus, b, Add(a, b));
}

Question MakeMultiplicationQuestion(const Digits& a, const Digits& b) {
  return MakeQuestion(a, kTimes, b, Multiply(a, b));
}

const Operation& Addition() {
  static constexpr Operation kOperation = {
      "digits of A", "digits of B", "digits_a",      "digits_b",
      "digits",      "digits",      "addition_grid", DrawAddition,
      PromptLength,  SumLength,     MakeTokenizer};
  return kOperation;
}

const Operation& Multiplication() {
  static constexpr Operation kOperation = {"digits of A",
                                           "digits of B",
                                           "digits_a",
                                           "digits_b",
                                           "digits",
                                           "digits",
                                           "multiplication_grid",
                                           DrawMultiplication,
                                           PromptLength,
                                           ProductLength,
                                           MakeTokenizer};
  return kOperation;
}

}  // namespace ordo::model::tasks
