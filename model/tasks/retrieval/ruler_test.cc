#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/digest/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/retrieval/items.h"
#include "model/tasks/retrieval/prose.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks::retrieval {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Item Draw(const std::string& name, int64_t bytes, uint64_t index) {
  base::RandomSequence random(1, absl::StrCat("data/", index));
  for (const RulerKind& kind : RulerKinds()) {
    if (kind.name == name) return kind.draw(bytes, &random);
  }
  ADD_FAILURE() << name;
  return {};
}

int Times(const std::string& text, const std::string& part) {
  int times = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++times;
  }
  return times;
}

// The words of a text between two others.
std::vector<std::string> Between(const std::string& text,
                                 const std::string& first,
                                 const std::string& last) {
  const size_t begin = text.rfind(first) + first.size();
  return absl::StrSplit(text.substr(begin, text.rfind(last) - begin), ' ',
                        absl::SkipEmpty());
}

TEST(Ruler, PromptsHaveJustTheirBytesFromTheLeastOn) {
  for (const RulerKind& kind : RulerKinds()) {
    for (const int64_t length :
         {int64_t{kind.min_length}, int64_t{4099}, int64_t{9000}}) {
      for (uint64_t index = 0; index < 5; ++index) {
        const int64_t bytes = length - kind.output_tokens;
        const Item item = Draw(std::string(kind.name), bytes, index);
        EXPECT_EQ(static_cast<int64_t>(item.prompt.size()), bytes) << kind.name;
      }
    }
  }
}

TEST(Ruler, AnswersHaveTheirReferencesAndAreAsLongAsIsSaid) {
  for (const RulerKind& kind : RulerKinds()) {
    for (uint64_t index = 0; index < 10; ++index) {
      const Item item = Draw(std::string(kind.name), 3000, index);
      EXPECT_EQ(static_cast<int>(item.answer.size()), kind.answer_bytes)
          << kind.name << item.answer;
      // The end mark too is decoded.
      EXPECT_LT(kind.answer_bytes, kind.output_tokens) << kind.name;
      for (const std::string& reference : item.references) {
        EXPECT_THAT(item.answer, HasSubstr(reference));
        EXPECT_THAT(item.prompt, HasSubstr(reference)) << kind.name;
      }
    }
  }
}

TEST(Ruler, AsManyTokensAreDecodedAsTheAuthorsDecode) {
  std::map<std::string, int> tokens;
  for (const RulerKind& kind : RulerKinds()) {
    tokens[std::string(kind.name)] = kind.output_tokens;
  }
  EXPECT_EQ(tokens, (std::map<std::string, int>{{"cwe", 120},
                                                {"fwe", 50},
                                                {"niah_multikey_1", 128},
                                                {"niah_multikey_2", 128},
                                                {"niah_multikey_3", 128},
                                                {"niah_multiquery", 128},
                                                {"niah_multivalue", 128},
                                                {"niah_single_1", 128},
                                                {"niah_single_2", 128},
                                                {"niah_single_3", 128},
                                                {"vt", 30}}));
}

TEST(Ruler, WhatIsLeftOverIsLessThanASentence) {
  for (const RulerKind& kind : RulerKinds()) {
    const Item item = Draw(std::string(kind.name), 9000, 3);
    EXPECT_THAT(item.prompt, ::testing::Not(HasSubstr(std::string(130, ' '))))
        << kind.name;
  }
}

// Made by this code; what they ask was checked by hand.
TEST(Ruler, ItemsOfSeedOneAreFrozen) {
  std::map<std::string, std::string> digests;
  for (const RulerKind& kind : RulerKinds()) {
    const Item item = Draw(std::string(kind.name), 2500, 0);
    digests[std::string(kind.name)] =
        base::Sha256Hex(item.prompt + item.answer).substr(0, 16);
  }
  const std::map<std::string, std::string> expected = {
      {"cwe", "e688a23a4665d767"},
      {"fwe", "ee9db2b12cd30435"},
      {"niah_multikey_1", "1b1b6f96990fb8f4"},
      {"niah_multikey_2", "92938f6bd5accff3"},
      {"niah_multikey_3", "bd9ac85114a7be95"},
      {"niah_multiquery", "e642ce637cf1fe0e"},
      {"niah_multivalue", "0f9c9558da31e2d4"},
      {"niah_single_1", "54b156d323f64718"},
      {"niah_single_2", "17183d81e5d85073"},
      {"niah_single_3", "5d0d51d335fd4924"},
      {"vt", "9aa7ba8213706748"}};
  EXPECT_EQ(digests, expected);
}

TEST(Ruler, NeedlesSayTheValuesOfTheKeysThatAreAskedFor) {
  for (const RulerKind& kind : RulerKinds()) {
    const std::string name(kind.name);
    if (name.rfind("niah", 0) != 0) continue;
    const bool uuids = name == "niah_single_3" || name == "niah_multikey_3";
    const Item item = Draw(name, 3000, 1);
    const std::vector<std::string> asked =
        Between(item.prompt, " for ", " mentioned");
    for (const std::string& value : item.references) {
      EXPECT_EQ(value.size(), uuids ? 36u : 7u);
      // "One of the special magic numbers for KEY is: VALUE."
      const size_t at = item.prompt.find(absl::StrCat(" is: ", value, "."));
      ASSERT_NE(at, std::string::npos) << name;
      const size_t key = item.prompt.rfind(' ', at - 1) + 1;
      EXPECT_THAT(absl::StrJoin(asked, " "),
                  HasSubstr(item.prompt.substr(key, at - key)));
    }
  }
}

TEST(Ruler, ThereAreAsManyNeedlesAsTheTaskHas) {
  const std::string needle = "One of the special magic ";
  EXPECT_EQ(Times(Draw("niah_single_1", 3000, 1).prompt, needle), 1);
  EXPECT_EQ(Times(Draw("niah_single_2", 3000, 1).prompt, needle), 1);
  EXPECT_EQ(Times(Draw("niah_single_3", 3000, 1).prompt, needle), 1);
  EXPECT_EQ(Times(Draw("niah_multikey_1", 3000, 1).prompt, needle), 4);
  EXPECT_EQ(Times(Draw("niah_multivalue", 3000, 1).prompt, needle), 4);
  EXPECT_EQ(Times(Draw("niah_multiquery", 3000, 1).prompt, needle), 4);
  EXPECT_GT(Times(Draw("niah_multikey_2", 3000, 1).prompt, needle), 25);
  EXPECT_GT(Times(Draw("niah_multikey_3", 3000, 1).prompt, needle), 15);
  EXPECT_EQ(Draw("niah_multivalue", 3000, 1).references.size(), 4u);
  EXPECT_EQ(Draw("niah_multiquery", 3000, 1).references.size(), 4u);
}

// One question asks in the singular, four in the plural.
TEST(Ruler, QuestionsAreThoseOfTheBenchmark) {
  EXPECT_THAT(Draw("niah_single_3", 2000, 0).prompt,
              StartsWith("A special magic uuid is hidden within the following "
                         "text. Make sure to memorize it. I will quiz you "
                         "about the uuid afterwards.\n"));
  EXPECT_THAT(Draw("niah_multivalue", 2000, 0).prompt,
              HasSubstr("\nWhat are all the special magic numbers for "));
  // The noise is the filler of the passkey task.
  for (const char* name : {"niah_single_1", "vt"}) {
    EXPECT_GT(Times(Draw(name, 2000, 0).prompt,
                    "The grass is green. The sky is blue. The sun is yellow. "
                    "Here we go. There and back again."),
              5)
        << name;
  }
  EXPECT_THAT(Draw("vt", 2000, 0).prompt, EndsWith("they are: "));
  EXPECT_THAT(Draw("cwe", 2000, 0).prompt, EndsWith("in the list are:"));
  EXPECT_THAT(Draw("fwe", 2000, 0).prompt, EndsWith("words are:"));
}

// Needles stand at a tenth of forty steps: 100 of a thousand in each tenth;
// standard deviation 9.5, six of them.
TEST(Ruler, DepthsAreUniform) {
  for (const char* name : {"niah_single_1", "niah_single_2"}) {
    std::map<size_t, int> tenths;
    for (uint64_t index = 0; index < 1000; ++index) {
      const Item item = Draw(name, 4000, index);
      const size_t begin = item.prompt.find('\n');
      const size_t end = item.prompt.rfind("\nWhat");
      const size_t at = item.prompt.find("One of the special") - begin;
      ++tenths[10 * at / (end - begin)];
    }
    EXPECT_EQ(tenths.size(), 10u) << name;
    for (const auto& [tenth, count] : tenths) EXPECT_NEAR(count, 100, 70);
  }
}

// Of four keys any is asked for, and values have seven digits.
TEST(Ruler, KeysAndValuesAreChosenEvenly) {
  std::map<int, int64_t> asked;
  std::map<char, int64_t> first_digits, last_digits;
  for (uint64_t index = 0; index < 600; ++index) {
    const Item item = Draw("niah_multikey_1", 1500, index);
    ASSERT_EQ(item.references.size(), 1u);
    const std::string& value = item.references[0];
    ASSERT_EQ(value.size(), 7u);
    ++first_digits[value.front()];
    ++last_digits[value.back()];
    const size_t end = item.prompt.find(absl::StrCat(" is: ", value, "."));
    ++asked[Times(item.prompt.substr(0, end), "One of the special magic ")];
  }
  testing::ExpectEven(4, asked);
  testing::ExpectEven(9, first_digits);
  testing::ExpectEven(10, last_digits);
}

// Each name is given the one before, in the order of the text.
TEST(Ruler, VariablesAreAChain) {
  for (uint64_t index = 0; index < 20; ++index) {
    const Item item = Draw("vt", 3000, index);
    ASSERT_EQ(item.references.size(), 5u);
    size_t last = 0;
    for (size_t i = 0; i < 5; ++i) {
      const std::string line =
          absl::StrCat("VAR ", item.references[i], " = ",
                       i == 0 ? Between(item.prompt, "value ", ", they")[0]
                              : absl::StrCat("VAR ", item.references[i - 1]));
      const size_t at = item.prompt.find(line);
      ASSERT_NE(at, std::string::npos) << line;
      EXPECT_GT(at, last);
      last = at;
    }
  }
}

std::map<std::string, int> CountedWords(const std::vector<std::string>& words) {
  std::map<std::string, int> counts;
  for (const std::string& word : words) {
    // Not the numbers of a list.
    if (word.back() != '.' || word == "...") ++counts[word];
  }
  return counts;
}

TEST(Ruler, CommonWordsAreThoseThatAreAskedFor) {
  for (const auto& [bytes, common, other] :
       {std::tuple(2500, 6, 1), std::tuple(9000, 30, 3)}) {
    const Item item = Draw("cwe", bytes, 2);
    const auto counts =
        CountedWords(Between(item.prompt, "most often.\n", "\nQuestion"));
    std::set<std::string> found;
    for (const auto& [word, count] : counts) {
      if (count == common) found.insert(word);
      EXPECT_TRUE(count == common || count == other) << word << count;
    }
    EXPECT_EQ(found, std::set<std::string>(item.references.begin(),
                                           item.references.end()));
    EXPECT_EQ(found.size(), 10u);
    EXPECT_GT(counts.size(), 20u);
  }
}

// Forty words, ten of which come ten times and are the answer, others three.
TEST(Ruler, CommonWordsAreShownOnceWithTheirAnswer) {
  const std::string prompt = Draw("cwe", 9000, 2).prompt;
  const std::string shown = prompt.substr(0, prompt.find("\nQuestion"));
  const std::string answered = "that appear most often in the list are:";
  const size_t begin = prompt.find(answered) + answered.size();
  const std::string answer =
      prompt.substr(begin, prompt.find('\n', begin) - begin);
  std::set<std::string> common, given;
  const auto counts = CountedWords(absl::StrSplit(
      shown.substr(shown.find('\n') + 1), ' ', absl::SkipEmpty()));
  for (const auto& [word, count] : counts) {
    EXPECT_TRUE(count == 10 || count == 3) << word << count;
    if (count == 10) common.insert(word);
  }
  for (const auto& [word, count] :
       CountedWords(absl::StrSplit(answer, ' ', absl::SkipEmpty()))) {
    EXPECT_EQ(count, 1);
    given.insert(word);
  }
  EXPECT_EQ(counts.size(), 40u);
  EXPECT_EQ(common.size(), 10u);
  EXPECT_EQ(given, common);
}

// Shares under Zipf's law: 61, 15, 7 and 4 per cent, of what is left after
// rounding down.
TEST(Ruler, CodedWordsAreAsFrequentAsTheirRank) {
  const Item item = Draw("fwe", 20000, 2);
  const auto counts =
      CountedWords(Between(item.prompt, "coded words. ", "\nQuestion"));
  const double dots = counts.at("...");
  EXPECT_GT(dots, 1500);
  for (size_t i = 0; i < 3; ++i) {
    const double rank = static_cast<double>(i) + 2;
    EXPECT_NEAR(counts.at(item.references[i]), dots / (rank * rank), 1);
  }
  for (const auto& [word, count] : counts) {
    const bool named =
        std::count(item.references.begin(), item.references.end(), word) != 0;
    EXPECT_EQ(named || word == "...", count > dots / 20) << word;
  }
}

}  // namespace
}  // namespace ordo::model::tasks::retrieval
