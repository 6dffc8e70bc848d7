#include "model/tasks/nope/pcfg.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ordo::model::tasks::nope {
namespace {

using List = std::vector<std::string>;

constexpr int kNumLetters = 26;
constexpr int kSymbolsOfLetter = 20;
constexpr int kMinString = 2;
constexpr int kMaxString = 5;

struct Unary {
  const char* name;
  List (*apply)(List x);
};

struct Binary {
  const char* name;
  List (*apply)(List x, List y);
};

List Copy(List x) { return x; }

List Reverse(List x) {
  std::reverse(x.begin(), x.end());
  return x;
}

List Shift(List x) {
  std::rotate(x.begin(), x.begin() + 1, x.end());
  return x;
}

List Echo(List x) {
  x.push_back(x.back());
  return x;
}

List SwapFirstLast(List x) {
  if (x.size() > 1) x.front().swap(x.back());
  return x;
}

List Append(List x, List y) {
  std::move(y.begin(), y.end(), std::back_inserter(x));
  return x;
}

List Repeat(List x) { return Append(x, x); }
List Prepend(List x, List y) { return Append(std::move(y), std::move(x)); }
List RemoveFirst(List /*x*/, List y) { return y; }
List RemoveSecond(List x, List /*y*/) { return x; }

constexpr Unary kUnary[] = {
    {"copy", Copy},
    {"reverse", Reverse},
    {"shift", Shift},
    {"echo", Echo},
    {"swap_first_last", SwapFirstLast},
    {"repeat", Repeat},
};

constexpr Binary kBinary[] = {
    {"append", Append},
    {"prepend", Prepend},
    {"remove_first", RemoveFirst},
    {"remove_second", RemoveSecond},
};

struct Expression {
  std::string text;
  List value;
};

Expression DrawString(base::RandomSequence* random) {
  Expression drawn;
  const uint64_t size = kMinString + random->Int(kMaxString - kMinString + 1);
  for (uint64_t i = 0; i < size; ++i) {
    const char letter = static_cast<char>('A' + random->Int(kNumLetters));
    drawn.value.push_back(absl::StrCat(std::string(1, letter),
                                       1 + random->Int(kSymbolsOfLetter)));
  }
  drawn.text = absl::StrJoin(drawn.value, " ");
  return drawn;
}

// Of so many functions.
Expression DrawExpression(int functions, base::RandomSequence* random) {
  if (functions == 0) return DrawString(random);
  const uint64_t drawn = random->Int(std::size(kUnary) + std::size(kBinary));
  if (drawn >= std::size(kUnary)) {
    const Binary& function = kBinary[drawn - std::size(kUnary)];
    const int first = static_cast<int>(random->Int(functions));
    const Expression x = DrawExpression(first, random);
    const Expression y = DrawExpression(functions - 1 - first, random);
    return {absl::StrCat(function.name, " ", x.text, " , ", y.text),
            function.apply(x.value, y.value)};
  }
  const Expression x = DrawExpression(functions - 1, random);
  const Unary* function = &kUnary[drawn];
  List value = function->apply(x.value);
  while (value.size() > kMaxSymbols && value.size() > x.value.size()) {
    function = &kUnary[random->Int(std::size(kUnary))];
    value = function->apply(x.value);
  }
  return {absl::StrCat(function->name, " ", x.text), std::move(value)};
}

Item Draw(int n, base::RandomSequence* random) {
  Expression drawn = DrawExpression(n, random);
  // Strings that are put behind each other are not bounded.
  while (drawn.value.size() > kMaxSymbols) drawn = DrawExpression(n, random);
  return {absl::StrCat("Solve: ", drawn.text, " [SEP]"),
          absl::StrJoin(drawn.value, " ")};
}

int AnswerWords(int n) {
  int words = kMaxString;
  for (int i = 0; i < n && words < kMaxSymbols; ++i) words *= 2;
  return std::min(words, kMaxSymbols);
}

// With two arguments each: a comma for each function, a string more than those.
int NumWords(int n) {
  return (2 * n + kMaxString * (n + 1) + 2) + AnswerWords(n);
}

int Equally(int /*n*/) { return 1; }

const List& PcfgWords() {
  static const auto* const words = [] {
    auto* result = new List{"Solve:", "[SEP]", ","};
    for (const Unary& function : kUnary) result->emplace_back(function.name);
    for (const Binary& function : kBinary) result->emplace_back(function.name);
    for (int letter = 0; letter < kNumLetters; ++letter) {
      for (int i = 1; i <= kSymbolsOfLetter; ++i) {
        result->push_back(
            absl::StrCat(std::string(1, static_cast<char>('A' + letter)), i));
      }
    }
    return result;
  }();
  return *words;
}

}  // namespace

Kind Pcfg() { return {"pcfg", Draw, NumWords, Equally, PcfgWords}; }

}  // namespace ordo::model::tasks::nope
