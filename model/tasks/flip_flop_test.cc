#include "model/tasks/flip_flop.h"

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks {
namespace {

using ::testing::ElementsAre;

FlipFlopOptions Strings(int length, double ignore) {
  FlipFlopOptions options;
  options.length = length;
  options.ignore = ignore;
  return options;
}

TEST(FlipFlop, ReadsTheLatestWrite) {
  const auto task = MakeFlipFlop(Strings(64, 0.5));
  for (uint64_t index = 0; index < 300; ++index) {
    const Sample sample = task->Generate(3, index).value();
    ASSERT_EQ(sample.tokens.size(), 64u);
    EXPECT_EQ(sample.tokens[0], 0);
    EXPECT_EQ(sample.tokens[62], 1);
    int64_t written = -1;
    for (size_t t = 0; t < 64; t += 2) {
      const int64_t bit = sample.tokens[t + 1];
      ASSERT_LE(sample.tokens[t], 2);
      ASSERT_TRUE(bit == 3 || bit == 4);
      if (sample.tokens[t] == 0) written = bit;
      if (sample.tokens[t] == 1) {
        EXPECT_EQ(bit, written);
      }
    }
  }
}

// By hand: in the first row 0 is written, written again, and read at the end.
TEST(FlipFlop, FirstRowsOfSeedOneAreFrozen) {
  const auto task = MakeFlipFlop(Strings(16, 0.5));
  std::vector<std::string> rows;
  for (uint64_t index = 0; index < 3; ++index) {
    rows.push_back(
        task->tokenizer().Decode(task->Generate(1, index).value().tokens));
  }
  EXPECT_THAT(rows, ElementsAre("w 0 i 0 i 1 i 0 w 0 i 1 i 1 r 0",
                                "w 1 w 0 w 1 i 1 r 1 w 0 i 0 r 0",
                                "w 1 r 1 i 1 i 1 r 1 i 0 i 1 r 1"));
}

TEST(FlipFlop, CountsTheBitsAfterReadsInTheLoss) {
  FlipFlopOptions options = Strings(32, 0.2);
  const Sample clean = MakeFlipFlop(options)->Generate(1, 0).value();
  for (size_t t = 0; t < 32; ++t) {
    EXPECT_EQ(clean.scored[t] == 1, t % 2 == 1 && clean.tokens[t - 1] == 1);
  }
  options.full_loss = true;
  const Sample full = MakeFlipFlop(options)->Generate(1, 0).value();
  EXPECT_EQ(full.tokens, clean.tokens);
  EXPECT_EQ(full.scored, std::vector<uint8_t>(32, 1));
}

// 1 + 254 p_r reads are expected in a string of 256 pairs; the bound is six
// standard errors.
TEST(FlipFlop, HasThePublishedNumbersOfReads) {
  constexpr int kRows = 1500;
  for (const auto& [ignore, expected] :
       {std::pair(0.8, 26.4), std::pair(0.98, 3.54), std::pair(0.1, 115.3)}) {
    FlipFlopReadsOptions options;
    options.strings.ignore = ignore;
    options.samples = kRows;
    const auto task = MakeFlipFlopReads(options);
    double reads = 0;
    for (int64_t index = 0; index < kRows; ++index) {
      reads +=
          static_cast<double>(task->Generate(1, index).value().places.size());
    }
    const double share = (1 - ignore) / 2;
    const double error = std::sqrt(254 * share * (1 - share) / kRows);
    EXPECT_NEAR(reads / kRows, expected, 6 * error) << ignore;
  }
}

TEST(FlipFlop, DrawsInstructionsWithTheSharesOfEachSet) {
  for (const auto& [ignore, other] :
       {std::pair(0.8, 0.1), std::pair(0.98, 0.01), std::pair(0.1, 0.45)}) {
    SCOPED_TRACE(ignore);
    const auto task = MakeFlipFlop(Strings(512, ignore));
    std::vector<int64_t> counts(3);
    for (uint64_t index = 0; index < 150; ++index) {
      const Sample sample = task->Generate(11, index).value();
      for (size_t t = 2; t < 510; t += 2) ++counts[sample.tokens[t]];
    }
    testing::ExpectDrawn({other, other, ignore}, counts);
  }
}

// Whatever was written before, and also in what is to be ignored.
TEST(FlipFlop, BitsAreFairCoins) {
  const auto task = MakeFlipFlop(Strings(512, 0.5));
  std::map<bool, int64_t> written, ignored;
  for (uint64_t index = 0; index < 100; ++index) {
    const Sample sample = task->Generate(11, index).value();
    int64_t latest = sample.tokens[1];
    for (size_t t = 2; t < 510; t += 2) {
      const int64_t bit = sample.tokens[t + 1];
      if (sample.tokens[t] == 0) {
        ++written[bit == latest];
        latest = bit;
      } else if (sample.tokens[t] == 2) {
        ++ignored[bit == latest];
      }
    }
  }
  testing::ExpectEven(2, written);
  testing::ExpectEven(2, ignored);
}

TEST(FlipFlop, ARowIsAPureFunctionOfSeedAndIndex) {
  const auto task = MakeFlipFlop(Strings(64, 0.5));
  const Sample later = task->Generate(1, 900).value();
  for (uint64_t index = 0; index < 5; ++index) task->Generate(1, index).value();
  EXPECT_EQ(MakeFlipFlop(Strings(64, 0.5))->Generate(1, 900).value().tokens,
            later.tokens);
  EXPECT_NE(task->Generate(2, 900).value().tokens, later.tokens);
  EXPECT_NE(task->Generate(1, 901).value().tokens, later.tokens);
}

TEST(FlipFlop, TheShortestStringWritesAndReads) {
  std::set<std::string> rows;
  const auto task = MakeFlipFlop(Strings(4, 0.8));
  for (uint64_t index = 0; index < 40; ++index) {
    rows.insert(
        task->tokenizer().Decode(task->Generate(1, index).value().tokens));
  }
  EXPECT_THAT(rows, ElementsAre("w 0 r 0", "w 1 r 1"));
}

TEST(FlipFlopReads, AsksForTheBitAfterEachRead) {
  FlipFlopReadsOptions options;
  options.strings = Strings(64, 0.5);
  options.samples = 20;
  const auto task = MakeFlipFlopReads(options);
  ASSERT_EQ(task->size(), 20);
  for (int64_t index = 0; index < 20; ++index) {
    const Question question = task->Generate(1, index).value();
    ASSERT_EQ(question.prompt.size(), 63u);
    EXPECT_EQ(task->PromptLength(index), 63);
    ASSERT_EQ(question.places.size(), question.answer.size());
    EXPECT_EQ(question.places.back(), 62);
    for (size_t i = 0; i < question.places.size(); ++i) {
      const size_t place = static_cast<size_t>(question.places[i]);
      EXPECT_EQ(question.prompt[place], 1);
      if (place < 62) {
        EXPECT_EQ(question.prompt[place + 1], question.answer[i]);
      }
    }
  }
}

TEST(FlipFlopReads, AreOtherStringsThanTheTrainingRows) {
  FlipFlopReadsOptions options;
  const auto reads = MakeFlipFlopReads(options);
  auto row = MakeFlipFlop(options.strings)->Generate(1, 0).value().tokens;
  row.pop_back();
  EXPECT_NE(reads->Generate(1, 0).value().prompt, row);
}

// Every read is one pair after a write where nothing is ignored and the string
// is w r: a wrong one of two strings is half of the reads at distance 1.
TEST(FlipFlopReads, ScoresErrorsOverReadsAndByDistance) {
  FlipFlopReadsOptions options;
  options.strings = Strings(4, 0);
  options.samples = 2;
  const auto task = MakeFlipFlopReads(options);
  const Scores scores = task->Score({1, {{1}, {0}}});
  EXPECT_DOUBLE_EQ(scores.metrics.at("error"), 0.5);
  EXPECT_DOUBLE_EQ(scores.metrics.at("wrong_rows"), 0.5);
  EXPECT_EQ(scores.csv,
            "distance,error,count,total,standard_error\n1,0.5,1,2,0.5\n");
  EXPECT_EQ(scores.details["reads"], 2);
}

// With ignores alone the one read is at the other end.
TEST(FlipFlopReads, DistancesAreThoseToTheLatestWrite) {
  FlipFlopReadsOptions options;
  options.strings = Strings(22, 1);
  options.samples = 3;
  const auto task = MakeFlipFlopReads(options);
  // Ten pairs, of the range from 8 to 15.
  EXPECT_EQ(task->Score({1, {{1}, {1}, {1}}}).csv,
            "distance,error,count,total,standard_error\n8,0,0,3,0\n");
}

TEST(FlipFlopReads, ErrorsCountReadsRatherThanStrings) {
  FlipFlopReadsOptions options;
  options.strings = Strings(64, 0.2);
  options.samples = 30;
  const auto task = MakeFlipFlopReads(options);
  Marked marked;
  double reads = 0;
  for (int64_t index = 0; index < 30; ++index) {
    const size_t of_row = task->Generate(1, index).value().places.size();
    reads += static_cast<double>(of_row);
    marked.answers.emplace_back(of_row, 1);
    marked.answers.back().back() = 0;
  }
  const Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("error"), 30 / reads);
  EXPECT_DOUBLE_EQ(scores.metrics.at("wrong_rows"), 1);
}

}  // namespace
}  // namespace ordo::model::tasks
