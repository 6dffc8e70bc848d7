#include "model/tasks/inside/inside_task.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/tokenizers/byte_tokenizer.h"

namespace ordo::model::tasks::inside {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Kind = InsideQuery::Kind;

// Texts as bytes.
class Texts : public Rows {
 public:
  explicit Texts(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  int64_t size() const override { return static_cast<int64_t>(texts_.size()); }
  int max_length() const override { return 40; }
  absl::StatusOr<std::vector<int64_t>> Get(uint64_t /*seed*/,
                                           int64_t index) const override {
    return tokenizer_->Encode(texts_[static_cast<size_t>(index)]);
  }
  std::string Id(uint64_t /*seed*/, int64_t index) const override {
    return "text-" + std::to_string(index);
  }
  std::optional<int64_t> begin_token() const override { return 2; }
  std::string data_fingerprint() const override { return "f00d"; }

 private:
  const std::vector<std::string> texts_;
  const std::unique_ptr<Tokenizer> tokenizer_ =
      text::tokenizers::MakeByteTokenizer();
};

std::unique_ptr<EvaluationTask> Made(Kind kind,
                                     std::vector<std::string> texts) {
  InsideQuery query;
  query.kind = kind;
  return MakeInside(query, std::make_unique<Texts>(std::move(texts)));
}

Marked Seen(std::vector<Inside> inside) {
  Marked marked;
  marked.inside = std::move(inside);
  return marked;
}

TEST(InsideTaskTest, QuestionsAreTheRowsAndTheQueryHasTheirBeginning) {
  const auto task = Made(Kind::kShifts, {"ab", "c"});
  EXPECT_EQ(task->size(), 2);
  EXPECT_EQ(task->measure(), Measure::kInside);
  ASSERT_NE(task->inside(), nullptr);
  EXPECT_EQ(task->inside()->begin, 2);
  EXPECT_EQ(task->PromptLength(1), 40);
  EXPECT_EQ(task->AnswerLength(1), 0);
  ORDO_ASSERT_OK_AND_ASSIGN(const Question question, task->Generate(1, 0));
  EXPECT_EQ(question.prompt, (std::vector<int64_t>{4 + 'a', 4 + 'b'}));
  EXPECT_EQ(task->ItemId(1, 1), "text-1");
  EXPECT_EQ(task->data_fingerprint(), "f00d");
}

TEST(InsideTaskTest, NumbersAreMeansOverTheTextsThatHaveThem) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const Scores scores =
      Made(Kind::kShifts, {"a", "b", "c"})
          ->Score(Seen({{{{"shift_attention_l2", 1}, {"add_attention_l10", 3}}},
                        {{{"shift_attention_l2", 4}}},
                        {{{"shift_attention_l2", nothing}}}}));
  EXPECT_THAT(scores.metrics,
              ElementsAre(std::pair("add_attention_l10", 3),
                          std::pair("shift_attention_l2", 2.5)));
  // By layer. Of 1 and 4 the deviation is sqrt(4.5), by the root of 2: 1.5.
  EXPECT_EQ(scores.csv,
            "quantity,layer,mean,standard_error,texts\n"
            "shift_attention,2,2.5,1.5,2\n"
            "add_attention,10,3,,1\n");
  EXPECT_THAT(scores.markdown,
              HasSubstr("| shift_attention | 2 | 2.5 | 1.5 | 2 |\n"
                        "| add_attention | 10 | 3 |  | 1 |\n"));
  EXPECT_EQ(scores.details["texts"], 3);
  EXPECT_EQ(scores.details["shift"], 3);
  EXPECT_EQ(scores.details["adds_tokens"], true);
  EXPECT_EQ(scores.details["layers"][0]["layer"], 2);
  EXPECT_EQ(scores.details["layers"][0]["shift_attention"]["mean"], 2.5);
  EXPECT_EQ(scores.details["layers"][0]["shift_attention"]["texts"], 2);
  EXPECT_EQ(scores.details["data_fingerprint"], "f00d");
  EXPECT_TRUE(scores.files.empty());
  EXPECT_FALSE(scores.details.contains("titles"));
}

// Of the metrics and by layer; a single text tells none.
TEST(InsideTaskTest, ErrorsAreThoseOfAnotherDrawOfTexts) {
  const Scores scores =
      Made(Kind::kAttention, {"a", "b", "c"})
          ->Score(Seen({{{{"diagonal_l1", 0.25}, {"diagonal_l2", 0.5}}},
                        {{{"diagonal_l1", 0.5}}},
                        {{{"diagonal_l1", 0.75}}}}));
  EXPECT_THAT(scores.standard_errors,
              ElementsAre(Pair("diagonal_l1",
                               DoubleNear(0.25 / std::sqrt(3.0), 1e-12))));
  const auto& layers = scores.details["layers"];
  EXPECT_EQ(layers[0]["diagonal"]["standard_error"],
            scores.standard_errors.at("diagonal_l1"));
  EXPECT_EQ(layers[1]["diagonal"]["mean"], 0.5);
  EXPECT_FALSE(layers[1]["diagonal"].contains("standard_error"));
}

TEST(InsideTaskTest, MapsStandInAFileOfTheirOwn) {
  Inside inside;
  inside.numbers = {{"diagonal_l2", 0.75}};
  inside.maps = {{"full", 2, 0, 2, {1, 0, 0.25F, 0.75F}},
                 {"position_only", 2, 1, 2, {1, 0, 1.0F / 3, 2.0F / 3}}};
  const Scores scores =
      Made(Kind::kAttention, {"a\n", "b"})->Score(Seen({inside, Inside()}));
  EXPECT_EQ(scores.details["newlines"].dump(), "[2]");
  EXPECT_EQ(scores.details["titles"].dump(), "[]");
  ASSERT_EQ(scores.files.size(), 1u);
  // From 1; what is 0 is left out.
  EXPECT_EQ(scores.files.at("maps.csv"),
            "source,layer,head,query,key,value\n"
            "full,2,0,1,1,1\n"
            "full,2,0,2,1,0.25\n"
            "full,2,0,2,2,0.75\n"
            "position_only,2,1,1,1,1\n"
            "position_only,2,1,2,1,0.333333\n"
            "position_only,2,1,2,2,0.666667\n");
  EXPECT_THAT(scores.csv, HasSubstr("diagonal,2,0.75,,1\n"));
}

TEST(InsideTaskTest, TitlesAreLinesBetweenEqualSigns) {
  Inside inside;
  inside.maps = {{"full", 1, 0, 1, {1}}};
  const Scores scores = Made(Kind::kAttention, {"x\n = A =\n=\na=\n= b ="})
                            ->Score(Seen({inside}));
  // "\n" before a title and after it is none of it.
  EXPECT_EQ(scores.details["titles"].dump(), "[3,4,5,6,7,8,15,16,17,18,19]");
}

TEST(InsideTaskTest, CurvesGoAsFarAsTheLongestText) {
  Inside first, second;
  first.curves = {{1, {1, 0.5}}, {2, {1, 0}}};
  second.curves = {{1, {1, 0.25, -1}}, {2, {1, 0.5, 0.125}}};
  const Scores scores =
      Made(Kind::kPositions, {"a", "b"})->Score(Seen({first, second}));
  ASSERT_EQ(scores.files.size(), 1u);
  // Errors of two are half of what they differ by.
  EXPECT_EQ(scores.files.at("curves.csv"),
            "layer,distance,value,texts,standard_error\n"
            "1,0,1,2,0\n1,1,0.375,2,0.125\n1,2,-1,1,\n"
            "2,0,1,2,0\n2,1,0.25,2,0.25\n2,2,0.125,1,\n");
}

TEST(InsideTaskTest, WithoutAnythingToSeeThereAreNoNumbers) {
  const Scores scores = Made(Kind::kPositions, {"a"})->Score(Seen({Inside()}));
  EXPECT_TRUE(scores.metrics.empty());
  EXPECT_TRUE(scores.files.empty());
  EXPECT_FALSE(scores.markdown.empty());
}

}  // namespace
}  // namespace ordo::model::tasks::inside
