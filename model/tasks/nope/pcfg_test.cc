#include "model/tasks/nope/pcfg.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::nope {
namespace {

using List = std::vector<std::string>;

Item Draw(int n, uint64_t index) {
  base::RandomSequence random(1, absl::StrCat("data/", index));
  return Pcfg().draw(n, &random);
}

List Split(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

const std::set<std::string>& Binary() {
  static const auto* const names = new std::set<std::string>{
      "append", "prepend", "remove_first", "remove_second"};
  return *names;
}

const std::set<std::string>& Unary() {
  static const auto* const names = new std::set<std::string>{
      "copy", "reverse", "shift", "echo", "swap_first_last", "repeat"};
  return *names;
}

// Reads an expression off the front of `words`; by the definitions of the
// paper's table 1, place by place.
List Value(std::deque<std::string>* words) {
  const std::string word = words->front();
  List out;
  if (Binary().count(word) != 0) {
    words->pop_front();
    const List x = Value(words);
    EXPECT_EQ(words->front(), ",");
    words->pop_front();
    const List y = Value(words);
    if (word != "remove_first" && word != "prepend") out = x;
    if (word != "remove_second") out.insert(out.end(), y.begin(), y.end());
    if (word == "prepend") out.insert(out.end(), x.begin(), x.end());
  } else if (Unary().count(word) != 0) {
    words->pop_front();
    const List x = Value(words);
    const size_t n = x.size();
    if (word == "copy") out = x;
    if (word == "repeat") {
      for (size_t i = 0; i < 2 * n; ++i) out.push_back(x[i % n]);
    }
    if (word == "echo") {
      for (size_t i = 0; i <= n; ++i) out.push_back(x[std::min(i, n - 1)]);
    }
    for (size_t i = 0; i < n; ++i) {
      if (word == "reverse") out.push_back(x[n - 1 - i]);
      if (word == "shift") out.push_back(x[(i + 1) % n]);
      if (word == "swap_first_last") {
        out.push_back(x[i == 0 ? n - 1 : i == n - 1 ? 0 : i]);
      }
    }
  } else {
    while (words->front() != "," && words->front() != "[SEP]") {
      out.push_back(words->front());
      words->pop_front();
    }
  }
  return out;
}

TEST(Pcfg, AnswersAreTheValuesOfTheirExpressions) {
  for (const int n : {1, 2, 3, 8, 20, kMaxFunctions}) {
    for (uint64_t index = 0; index < 100; ++index) {
      const Item item = Draw(n, index);
      const List words = Split(item.prompt);
      ASSERT_EQ(words.front(), "Solve:");
      std::deque<std::string> rest(words.begin() + 1, words.end());
      EXPECT_EQ(absl::StrJoin(Value(&rest), " "), item.answer) << item.prompt;
      EXPECT_EQ(rest, std::deque<std::string>{"[SEP]"}) << item.prompt;
    }
  }
}

// Made by this code; the answers checked by hand.
TEST(Pcfg, ItemsOfSeedOneAreFrozen) {
  List items;
  for (const int n : {1, 3, 6}) {
    const Item item = Draw(n, n);
    items.push_back(absl::StrCat(item.prompt, " > ", item.answer));
  }
  EXPECT_THAT(
      items,
      ::testing::ElementsAre(
          "Solve: prepend N14 K19 U15 , G10 V1 R4 [SEP] > G10 V1 R4 N14 K19 "
          "U15",
          "Solve: echo shift swap_first_last P18 D4 [SEP] > P18 D4 D4",
          "Solve: swap_first_last shift copy swap_first_last reverse "
          "remove_first T7 C7 P6 Z9 , I16 D13 [SEP] > I16 D13"));
}

// In the published set each function is a tenth of all, and strings have 2 to 5
// symbols.
TEST(Pcfg, FunctionsAndSizesOfStringsAreUniform) {
  std::map<std::string, int> functions;
  std::map<size_t, int> sizes;
  for (uint64_t index = 0; index < 2000; ++index) {
    const Item item = Draw(3, index);
    size_t size = 0;
    int count = 0;
    for (const std::string& word : Split(item.prompt)) {
      const bool function = Unary().count(word) + Binary().count(word) != 0;
      if (function) ++functions[word];
      count += function ? 1 : 0;
      const bool symbol =
          !function && word != "," && word != "Solve:" && word != "[SEP]";
      if (symbol) {
        ++size;
      } else if (size > 0) {
        ++sizes[size];
        size = 0;
      }
    }
    EXPECT_EQ(count, 3);
  }
  // 600 of each; standard deviation 23, six of them.
  ASSERT_EQ(functions.size(), 10u);
  for (const auto& [name, count] : functions)
    EXPECT_NEAR(count, 600, 140) << name;
  ASSERT_EQ(sizes.size(), 4u);
  int strings = 0;
  for (const auto& [size, count] : sizes) strings += count;
  // Standard deviation below 30.
  for (const auto& [size, count] : sizes)
    EXPECT_NEAR(count, strings / 4.0, 180);
}

TEST(Pcfg, ItemsAreOfTheWordsAndShortEnough) {
  const List& words = Pcfg().words();
  const std::set<std::string> known(words.begin(), words.end());
  EXPECT_EQ(known.size(), words.size());
  for (const int n : {1, 2, 5, 12, kMaxFunctions}) {
    for (uint64_t index = 0; index < 200; ++index) {
      const Item item = Draw(n, index);
      const List prompt = Split(item.prompt), answer = Split(item.answer);
      EXPECT_LE(answer.size(), static_cast<size_t>(kMaxSymbols));
      EXPECT_LE(static_cast<int>(prompt.size() + answer.size()),
                Pcfg().num_words(n));
      for (const List& text : {prompt, answer}) {
        for (const std::string& word : text) {
          EXPECT_EQ(known.count(word), 1u) << word;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ordo::model::tasks::nope
