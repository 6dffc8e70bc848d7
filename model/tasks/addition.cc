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
constexpr int64_t kEquals = 17;

void Append(const Digits& digits, std::vector<int64_t>* tokens) {
  for (const uint8_t digit : digits) {
    tokens->push_back(kFirstCharacter + digit);
  }
}

class Addition : public TrainingTask {
 public:
  explicit Addition(const AdditionOptions& options) : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  // Two operands, their sum with a carry, +, = and the end mark.
  int row_length() const override { return 3 * options_.max_digits + 4; }

  Sample Generate(uint64_t seed, uint64_t index) const override {
    base::RandomSequence random(seed, absl::StrCat("data/", index));
    const int num_digits_a = 1 + static_cast<int>(random.Int(max_digits()));
    const int num_digits_b = 1 + static_cast<int>(random.Int(max_digits()));
    const Digits a = DrawNumber(num_digits_a, &random);
    const Digits b = DrawNumber(num_digits_b, &random);
    const Question question = MakeAdditionQuestion(a, b);

    Sample sample;
    sample.tokens = question.prompt;
    sample.tokens.insert(sample.tokens.end(), question.answer.begin(),
                         question.answer.end());
    sample.scored.assign(question.prompt.size(), 0);
    sample.scored.resize(sample.tokens.size(), 1);
    sample.tokens.resize(row_length(), kPad);
    sample.scored.resize(row_length(), 0);
    return sample;
  }

 private:
  uint64_t max_digits() const { return options_.max_digits; }

  const AdditionOptions options_;
  const ArithmeticTokenizer tokenizer_;
};

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

Question MakeAdditionQuestion(const Digits& a, const Digits& b) {
  Question question;
  Append(a, &question.prompt);
  question.prompt.push_back(kPlus);
  Append(b, &question.prompt);
  question.prompt.push_back(kEquals);
  Append(Add(a, b), &question.answer);
  question.answer.push_back(kEnd);
  return question;
}

std::unique_ptr<TrainingTask> MakeAddition(const AdditionOptions& options) {
  return std::make_unique<Addition>(options);
}

}  // namespace ordo::model::tasks
