#include "model/tasks/retrieval/prose.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks::retrieval {
namespace {

TEST(Prose, SentencesEndAndHaveNoFoods) {
  base::RandomSequence random(1, "data/0");
  const std::vector<std::string> foods = Foods(32, &random);
  EXPECT_EQ(std::set<std::string>(foods.begin(), foods.end()).size(), 32u);
  for (int i = 0; i < 300; ++i) {
    const std::string text = Sentence(&random);
    EXPECT_EQ(text.rfind("The ", 0), 0u);
    EXPECT_EQ(text.find('.'), text.size() - 1);
    const std::vector<std::string> words =
        absl::StrSplit(text.substr(0, text.size() - 1), ' ');
    EXPECT_EQ(words.size(), 10u) << text;
    for (const std::string& word : words) {
      EXPECT_EQ(std::count(foods.begin(), foods.end(), word), 0) << word;
    }
  }
}

// Of 3600 pairs, 5000 draws leave a quarter out: 1 - exp(-5000/3600) of them
// are 2702, standard deviation below 25, six of them.
TEST(Prose, PairsOfWordsAreDifferent) {
  base::RandomSequence random(1, "data/0");
  std::set<std::string> pairs;
  for (int i = 0; i < 5000; ++i) {
    const std::string pair = AdjectiveNoun(&random);
    EXPECT_LE(pair.size(), 19u);
    EXPECT_EQ(std::count(pair.begin(), pair.end(), '-'), 1);
    pairs.insert(pair);
  }
  EXPECT_NEAR(static_cast<double>(pairs.size()), 2702, 150);
}

TEST(Prose, CoinedWordsHaveSixLetters) {
  base::RandomSequence random(1, "data/0");
  for (int i = 0; i < 200; ++i) {
    const std::string word = CoinedWord(&random);
    ASSERT_EQ(word.size(), 6u);
    for (size_t letter = 0; letter < 6; ++letter) {
      const bool vowel =
          std::string("aeiou").find(word[letter]) != std::string::npos;
      EXPECT_EQ(vowel, letter % 2 == 1) << word;
    }
  }
}

TEST(Prose, UuidsAreOfVersionFour) {
  base::RandomSequence random(1, "data/0");
  for (int i = 0; i < 50; ++i) {
    const std::string uuid = Uuid(&random);
    const std::vector<std::string> parts = absl::StrSplit(uuid, '-');
    ASSERT_EQ(parts.size(), 5u);
    EXPECT_EQ(uuid.size(), 36u);
    EXPECT_EQ(parts[2].size(), 4u);
    EXPECT_EQ(parts[2][0], '4');
    EXPECT_NE(std::string("89ab").find(parts[3][0]), std::string::npos);
  }
}

}  // namespace
}  // namespace ordo::model::tasks::retrieval
