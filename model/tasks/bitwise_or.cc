#include "model/tasks/bitwise_or.h"

#include <algorithm>
#include <utility>

#include "model/tasks/addition.h"

namespace ordo::model::tasks {
namespace {

constexpr int64_t kZero = 4;
constexpr int64_t kOne = 5;
constexpr int64_t kPlus = 14;
constexpr int64_t kEquals = 17;

Question Draw(int i, int j, base::RandomSequence* random) {
  const uint64_t place = random->Int(std::min(i, j));
  std::vector<int64_t> a(i, kZero), b(j, kZero);
  std::vector<int64_t> either(std::max(i, j), kZero);
  const bool in_a = i == j ? random->Int(2) == 0 : i < j;
  (in_a ? a : b)[place] = kOne;
  either[place] = kOne;
  Question question;
  question.prompt = std::move(a);
  question.prompt.push_back(kPlus);
  question.prompt.insert(question.prompt.end(), b.begin(), b.end());
  question.prompt.push_back(kEquals);
  question.answer = std::move(either);
  question.answer.push_back(kEnd);
  return question;
}

int PromptLength(int i, int j) { return i + j + 2; }
int AnswerLength(int i, int j) { return std::max(i, j) + 1; }

std::unique_ptr<Tokenizer> MakeTokenizer() {
  return std::make_unique<ArithmeticTokenizer>();
}

}  // namespace

const Operation& BitwiseOr() {
  static constexpr Operation kOperation = {
      "bits of A",  "bits of B",  "bits_a",          "bits_b",
      "bits",       "bits",       "bitwise_or_grid", Draw,
      PromptLength, AnswerLength, MakeTokenizer};
  return kOperation;
}

}  // namespace ordo::model::tasks
