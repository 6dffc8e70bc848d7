#include "model/tasks/selective_copy.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks {
namespace {

using ::testing::ElementsAre;

enum class Layout { kPlain, kSeparated, kMarkers };

SelectiveCopyOptions Rows(int symbols, int blanks,
                          Layout layout = Layout::kPlain) {
  SelectiveCopyOptions options;
  options.symbols = symbols;
  options.blanks = blanks;
  options.markers = layout == Layout::kMarkers;
  options.separator = layout == Layout::kSeparated;
  return options;
}

std::string FirstRow(const SelectiveCopyOptions& options) {
  const auto task = MakeSelectiveCopy(options);
  return task->tokenizer().Decode(task->Generate(1, 0).value().tokens);
}

// By hand: a, k, f and i stand among six blanks, and follow without them, or
// after the separator o. Four markers o ask for them in their places; the last
// token is not read.
TEST(SelectiveCopy, FirstRowsOfSeedOneAreFrozen) {
  EXPECT_EQ(FirstRow(Rows(4, 6)), "a . k f . . . . i . a k f i");
  EXPECT_EQ(FirstRow(Rows(4, 6, Layout::kSeparated)),
            "a . j f . . . . h . o a j f h");
  EXPECT_EQ(FirstRow(Rows(4, 6, Layout::kMarkers)),
            "a . j f . . . . h . o o o o .");
}

TEST(SelectiveCopy, RowsHaveThePublishedLengths) {
  for (const auto& [blanks, length] :
       {std::pair(256, 768), std::pair(128, 640), std::pair(512, 1024)}) {
    const auto task = MakeSelectiveCopy(Rows(256, blanks));
    EXPECT_EQ(task->row_length(), length);
    EXPECT_EQ(task->Generate(1, 0).value().tokens.size(),
              static_cast<size_t>(length));
    EXPECT_EQ(task->tokenizer().vocabulary_size(), 16);
  }
}

// What is said at each place that counts, with the token it is said after.
std::vector<std::pair<int64_t, int64_t>> Said(const Sample& sample) {
  const auto& targets = sample.targets.empty() ? sample.tokens : sample.targets;
  EXPECT_EQ(targets.size(), sample.tokens.size());
  EXPECT_EQ(sample.scored.size(), sample.tokens.size());
  std::vector<std::pair<int64_t, int64_t>> said;
  for (size_t t = 1; t < sample.tokens.size(); ++t) {
    if (sample.scored[t] != 0)
      said.emplace_back(sample.tokens[t - 1], targets[t]);
  }
  EXPECT_EQ(sample.scored[0], 0);
  return said;
}

TEST(SelectiveCopy, SaysTheSymbolsOfTheInputInOrder) {
  for (const Layout layout :
       {Layout::kPlain, Layout::kSeparated, Layout::kMarkers}) {
    const auto task = MakeSelectiveCopy(Rows(7, 9, layout));
    for (uint64_t index = 0; index < 100; ++index) {
      const Sample sample = task->Generate(5, index).value();
      ASSERT_EQ(sample.tokens.size(), static_cast<size_t>(task->row_length()));
      std::vector<int64_t> symbols;
      for (size_t t = 0; t < 16; ++t) {
        if (sample.tokens[t] != 0) symbols.push_back(sample.tokens[t]);
      }
      ASSERT_EQ(symbols.size(), 7u);
      const auto said = Said(sample);
      ASSERT_EQ(said.size(), 7u);
      for (size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(said[i].second, symbols[i]);
        if (layout == Layout::kMarkers) {
          EXPECT_EQ(said[i].first, 15);
        } else if (i > 0) {
          EXPECT_EQ(said[i].first, symbols[i - 1]);
        }
      }
      if (layout == Layout::kSeparated) {
        EXPECT_EQ(said[0].first, 15);
      }
    }
  }
}

// Of the markers and the separator's kind there are 14 symbols, otherwise 15.
TEST(SelectiveCopy, SymbolsAndTheirPlacesAreUniform) {
  for (const auto& [layout, kinds] :
       {std::pair(Layout::kPlain, 15), std::pair(Layout::kSeparated, 14),
        std::pair(Layout::kMarkers, 14)}) {
    const auto task = MakeSelectiveCopy(Rows(2, 2, layout));
    std::map<int64_t, int64_t> symbols;
    std::map<std::pair<int, int>, int64_t> places;
    for (uint64_t index = 0; index < 3000; ++index) {
      const Sample sample = task->Generate(2, index).value();
      std::vector<int> of_row;
      for (int t = 0; t < 4; ++t) {
        if (sample.tokens[t] == 0) continue;
        of_row.push_back(t);
        ++symbols[sample.tokens[t]];
      }
      ASSERT_EQ(of_row.size(), 2u);
      ++places[{of_row[0], of_row[1]}];
    }
    testing::ExpectEven(kinds, symbols);
    testing::ExpectEven(6, places);
  }
}

TEST(SelectiveCopy, ASeparatorOrMarkerIsNoSymbol) {
  for (const Layout layout : {Layout::kSeparated, Layout::kMarkers}) {
    const auto task = MakeSelectiveCopy(Rows(200, 0, layout));
    const Sample sample = task->Generate(1, 0).value();
    for (size_t t = 0; t < 200; ++t) {
      EXPECT_GE(sample.tokens[t], 1);
      EXPECT_LE(sample.tokens[t], 14);
    }
  }
}

TEST(SelectiveCopies, ReadEachSymbolAfterTheOnesBeforeIt) {
  for (const Layout layout :
       {Layout::kPlain, Layout::kSeparated, Layout::kMarkers}) {
    SelectiveCopiesOptions options;
    options.rows = Rows(5, 3, layout);
    options.samples = 10;
    const auto task = MakeSelectiveCopies(options);
    const Question question = task->Generate(1, 3).value();
    ASSERT_EQ(static_cast<int>(question.prompt.size()), task->PromptLength(3));
    ASSERT_EQ(question.answer.size(), 5u);
    ASSERT_EQ(question.places.size(), 5u);
    EXPECT_EQ(question.places.back(), task->PromptLength(3) - 1);
    for (size_t i = 0; i < 5; ++i) {
      const int64_t before = question.prompt[question.places[i]];
      if (layout == Layout::kMarkers) {
        EXPECT_EQ(before, 15);
      } else if (i > 0) {
        EXPECT_EQ(before, question.answer[i - 1]);
      } else {
        EXPECT_EQ(question.places[0], layout == Layout::kPlain ? 7 : 8);
      }
    }
  }
}

TEST(SelectiveCopies, ARowIsWrongWithOneSymbol) {
  SelectiveCopiesOptions options;
  options.rows = Rows(4, 0);
  options.samples = 2;
  const Scores scores =
      MakeSelectiveCopies(options)->Score({1, {{1, 1, 1, 0}, {1, 1, 1, 1}}});
  EXPECT_DOUBLE_EQ(scores.metrics.at("error"), 0.5);
  EXPECT_DOUBLE_EQ(scores.metrics.at("token_error"), 0.125);
  // The eight symbols are of two rows.
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("error"), 0.5);
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("token_error"), 0.125);
  EXPECT_EQ(scores.csv,
            "place,error,count,total,standard_error\n1,0,0,2,0\n2,0,0,4,0\n"
            "4,0.5,1,2,0.5\n");
}

}  // namespace
}  // namespace ordo::model::tasks
