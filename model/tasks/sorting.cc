#include "model/tasks/sorting.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/tasks/addition.h"
#include "model/tasks/words.h"

namespace ordo::model::tasks {
namespace {

constexpr int64_t kFirstDigit = 4;
constexpr int64_t kComma = 15;
constexpr int64_t kColon = 16;
constexpr int64_t kEquals = 17;

// Each a label, in the order in which they follow each other.
constexpr const char* kLabels[kMaxSortedNumbers] = {
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O",
    "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z", "a", "b", "c", "d",
    "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
    "t", "u", "v", "w", "y", "z", "!", "@", "£", "#", "$", "%", "^", "&", "*",
    "(", ")", "~", "?", ".", ",", "<", ">", "{", "}", "[", "]", ":", ";", "/",
    "|", "β", "Γ", "Δ", "δ", "ε", "ζ", "η", "θ", "κ", "Λ", "λ", "μ", "Ξ", "ξ",
    "Π", "π", "Σ", "ς", "τ", "Φ", "φ", "χ", "Ψ", "ψ", "Ω", "ω"};

// The digits, then D , : = and the blank, which no row has, then the other
// labels.
WordTokenizer Words() {
  std::vector<std::string> words = {"0", "1", "2", "3", "4", "5", "6",      "7",
                                    "8", "9", "D", ",", ":", "=", "<blank>"};
  for (const char* label : kLabels) {
    if (std::find(words.begin(), words.end(), label) == words.end()) {
      words.emplace_back(label);
    }
  }
  return WordTokenizer(Ids::kMarksAndWords, words);
}

const std::vector<int64_t>& LabelIds() {
  static const auto* const ids = [] {
    auto* result = new std::vector<int64_t>;
    const WordTokenizer words = Words();
    for (const char* label : kLabels) result->push_back(words.IdOf(label));
    return result;
  }();
  return *ids;
}

struct Labelled {
  int64_t label = 0;
  // Lowest first.
  Digits number;
};

// Neither number has a leading zero.
bool IsLess(const Labelled& a, const Labelled& b) {
  if (a.number.size() != b.number.size()) {
    return a.number.size() < b.number.size();
  }
  return std::lexicographical_compare(a.number.rbegin(), a.number.rend(),
                                      b.number.rbegin(), b.number.rend());
}

Question Draw(int max_digits, int count, base::RandomSequence* random) {
  // The end of the list, which is its beginning, may be drawn too.
  const uint64_t first = random->Int(kMaxSortedNumbers + 1);
  std::vector<Labelled> numbers;
  Question question;
  for (int i = 0; i < count; ++i) {
    const int num_digits = 1 + static_cast<int>(random->Int(max_digits));
    const int64_t label = LabelIds()[(first + i) % kMaxSortedNumbers];
    numbers.push_back({label, DrawNumber(num_digits, random)});
    if (i > 0) question.prompt.push_back(kComma);
    question.prompt.push_back(label);
    question.prompt.push_back(kColon);
    for (const uint8_t digit : numbers.back().number) {
      question.prompt.push_back(kFirstDigit + digit);
    }
  }
  question.prompt.push_back(kEquals);
  std::stable_sort(numbers.begin(), numbers.end(), IsLess);
  for (int i = 0; i < count; ++i) {
    if (i > 0) question.answer.push_back(kComma);
    question.answer.push_back(numbers[i].label);
  }
  question.answer.push_back(kEnd);
  return question;
}

// A label, a colon and the most digits of each, with commas between them and =.
int PromptLength(int max_digits, int count) { return (max_digits + 3) * count; }
// Labels with commas between them, and the end mark.
int AnswerLength(int /*max_digits*/, int count) { return 2 * count; }

std::unique_ptr<Tokenizer> MakeTokenizer() {
  return std::make_unique<WordTokenizer>(Words());
}

}  // namespace

const Operation& Sorting() {
  static constexpr Operation kOperation = {
      "most digits", "numbers",    "max_digits",   "numbers",
      "digits",      "numbers",    "sorting_grid", Draw,
      PromptLength,  AnswerLength, MakeTokenizer,  /*ragged=*/true};
  return kOperation;
}

}  // namespace ordo::model::tasks
