#include "model/tasks/addition.h"

#include <map>
#include <memory>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<TrainingTask> Rows(int max_digits,
                                   const Operation& operation = Addition()) {
  PairsOptions options;
  options.max_first = max_digits;
  options.max_second = max_digits;
  return MakePairs(operation, options);
}

// Operands of a row's text, as numbers; the text is reversed.
std::vector<uint64_t> Numbers(std::string text) {
  std::vector<uint64_t> numbers = {0};
  uint64_t place = 1;
  for (const char c : text) {
    if (c == '+' || c == 'x' || c == '=') {
      numbers.push_back(0);
      place = 1;
    } else {
      numbers.back() += place * static_cast<uint64_t>(c - '0');
      place *= 10;
    }
  }
  return numbers;
}

TEST(ArithmeticTokenizer, EncodesThePublishedExample) {
  const ArithmeticTokenizer tokenizer;
  EXPECT_EQ(tokenizer.vocabulary_size(), 19);
  EXPECT_THAT(tokenizer.Encode("21+543=753"),
              IsOkAndHolds(ElementsAre(6, 5, 14, 9, 8, 7, 17, 11, 9, 7)));
  EXPECT_THAT(tokenizer.Encode("0123456789+-x="),
              IsOkAndHolds(ElementsAre(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                       16, 17)));
}

TEST(ArithmeticTokenizer, DropsBlanksWhichTrainingRowsDoNotHave) {
  const ArithmeticTokenizer tokenizer;
  EXPECT_EQ(*tokenizer.Encode(" 21 + 543 = "), *tokenizer.Encode("21+543="));
}

TEST(ArithmeticTokenizer, DecodesWhatItEncoded) {
  const ArithmeticTokenizer tokenizer;
  EXPECT_EQ(tokenizer.Decode({2, 6, 5, 14, 9, 8, 7, 17, 11, 9, 7, 3, 0, 0}),
            "21+543=753");
  EXPECT_EQ(tokenizer.Decode({1, 19, -5, 4}), "???0");
}

TEST(ArithmeticTokenizer, NamesACharacterWithoutAToken) {
  EXPECT_THAT(ArithmeticTokenizer().Encode("1*2="),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'*'")));
}

TEST(MakeAdditionQuestion, WritesThePublishedExampleReversed) {
  const Question question = MakeAdditionQuestion({2, 1}, {5, 4, 3});
  EXPECT_THAT(question.prompt, ElementsAre(6, 5, 14, 9, 8, 7, 17));
  EXPECT_THAT(question.answer, ElementsAre(11, 9, 7, 3));
}

TEST(Add, CarriesIntoANewDigit) {
  EXPECT_THAT(Add({9, 9}, {1}), ElementsAre(0, 0, 1));
  EXPECT_THAT(Add({1}, {9, 9}), ElementsAre(0, 0, 1));
  EXPECT_THAT(Add({4}, {5}), ElementsAre(9));
}

TEST(Addition, RowsHaveThePublishedLengths) {
  EXPECT_EQ(Rows(20)->row_length(), 64);
  EXPECT_EQ(Rows(40)->row_length(), 124);
}

TEST(Addition, RowsAreRightSumsPaddedAndScoredOnTheAnswerAlone) {
  const auto task = Rows(6);
  for (uint64_t index = 0; index < 500; ++index) {
    const Sample sample = task->Generate(7, index).value();
    ASSERT_EQ(sample.tokens.size(), 22u);
    ASSERT_EQ(sample.scored.size(), 22u);
    const std::string text = task->tokenizer().Decode(sample.tokens);
    const std::vector<uint64_t> numbers = Numbers(text);
    ASSERT_EQ(numbers.size(), 3u) << text;
    EXPECT_EQ(numbers[0] + numbers[1], numbers[2]) << text;
    const size_t equals = text.find('=');
    for (size_t t = 0; t < sample.tokens.size(); ++t) {
      EXPECT_EQ(sample.scored[t] == 1, t > equals && t <= text.size()) << text;
      if (t > text.size()) {
        EXPECT_EQ(sample.tokens[t], kPad);
      }
    }
    EXPECT_EQ(sample.tokens[text.size()], kEnd);
  }
}

TEST(Multiply, HasNoLeadingZero) {
  EXPECT_THAT(Multiply({9, 9}, {9, 9}), ElementsAre(1, 0, 8, 9));
  EXPECT_THAT(Multiply({2}, {3}), ElementsAre(6));
  EXPECT_THAT(Multiply({0, 1}, {0, 0, 1}), ElementsAre(0, 0, 0, 1));
}

// By hand: 12 times 345 is 4140, and the row is reversed.
TEST(MakeMultiplicationQuestion, WritesAnExampleReversed) {
  const Question question = MakeMultiplicationQuestion({2, 1}, {5, 4, 3});
  EXPECT_THAT(question.prompt, ElementsAre(6, 5, 16, 9, 8, 7, 17));
  EXPECT_THAT(question.answer, ElementsAre(4, 8, 5, 8, 3));
}

TEST(Multiplication, RowsAreRightProducts) {
  const auto task = Rows(6, Multiplication());
  EXPECT_EQ(task->row_length(), 27);
  for (uint64_t index = 0; index < 300; ++index) {
    const Sample sample = task->Generate(7, index).value();
    const std::string text = task->tokenizer().Decode(sample.tokens);
    const std::vector<uint64_t> numbers = Numbers(text);
    ASSERT_EQ(numbers.size(), 3u) << text;
    EXPECT_EQ(numbers[0] * numbers[1], numbers[2]) << text;
    EXPECT_NE(text.back(), '0') << text;
    EXPECT_EQ(sample.tokens[text.size()], kEnd);
  }
}

TEST(Addition, ARowIsAPureFunctionOfSeedAndIndex) {
  const auto task = Rows(5);
  const Sample later = task->Generate(1, 1000).value();
  for (uint64_t index = 0; index < 1000; ++index)
    task->Generate(1, index).value();
  EXPECT_EQ(Rows(5)->Generate(1, 1000).value().tokens, later.tokens);
  EXPECT_NE(task->Generate(2, 1000).value().tokens, later.tokens);
  EXPECT_NE(task->Generate(1, 1001).value().tokens, later.tokens);
}

TEST(Addition, FirstRowsOfSeedOneAreFrozen) {
  const auto task = Rows(5);
  std::vector<std::string> rows;
  for (uint64_t index = 0; index < 4; ++index) {
    rows.push_back(
        task->tokenizer().Decode(task->Generate(1, index).value().tokens));
  }
  EXPECT_THAT(rows, ElementsAre("5+2=7", "4564+987=3445", "371+7734=0554",
                                "42+58=901"));
}

// Made with a second implementation, in Python, of stream, set and product,
// which gives the rows above too.
TEST(Multiplication, FirstRowsOfSeedOneAreFrozen) {
  const auto rows = [](uint64_t rows_of_set) {
    PairsOptions options;
    options.max_first = 5;
    options.max_second = 5;
    options.rows = rows_of_set;
    const auto task = MakePairs(Multiplication(), options);
    std::vector<std::string> texts;
    for (uint64_t index = 0; index < 4; ++index) {
      texts.push_back(
          task->tokenizer().Decode(task->Generate(1, index).value().tokens));
    }
    return texts;
  };
  EXPECT_THAT(rows(0), ElementsAre("5x2=01", "4564x987=6002763",
                                   "371x7734=122757", "42x58=0402"));
  EXPECT_THAT(rows(10000), ElementsAre("21x87=639", "45x8124=277722",
                                       "14101x67=617077", "9x958=1377"));
}

TEST(Addition, LengthsAreUniformOverTheGrid) {
  constexpr int kMaxDigits = 4;
  constexpr int kRows = 32000;
  const auto task = Rows(kMaxDigits);
  std::map<std::pair<size_t, size_t>, int> counts;
  for (uint64_t index = 0; index < kRows; ++index) {
    const std::string text =
        task->tokenizer().Decode(task->Generate(3, index).value().tokens);
    const size_t plus = text.find('+');
    ++counts[{plus, text.find('=') - plus - 1}];
  }
  ASSERT_EQ(counts.size(), 16u);
  for (const auto& [lengths, count] : counts) {
    // 2000 expected, standard deviation 43; six of them.
    EXPECT_NEAR(count, kRows / 16, 260) << lengths.first << lengths.second;
  }
}

TEST(DrawNumber, IsUniformOverNumbersOfThatLength) {
  base::RandomSequence random(5, "data/0");
  std::map<int, int> counts;
  constexpr int kDraws = 90000;
  for (int i = 0; i < kDraws; ++i) {
    const Digits digits = DrawNumber(2, &random);
    ++counts[digits[0] + 10 * digits[1]];
  }
  ASSERT_EQ(counts.size(), 90u);
  EXPECT_EQ(counts.begin()->first, 10);
  for (const auto& [number, count] : counts) {
    EXPECT_NEAR(count, 1000, 190) << number;
  }
}

TEST(DrawNumber, OfOneDigitIsNeverZero) {
  base::RandomSequence random(5, "data/1");
  for (int i = 0; i < 1000; ++i) EXPECT_NE(DrawNumber(1, &random)[0], 0);
}

}  // namespace
}  // namespace ordo::model::tasks
