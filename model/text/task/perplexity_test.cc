#include "model/text/task/perplexity.h"

#include <cmath>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::task {
namespace {

using nlohmann::ordered_json;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Twenty documents "line 10" to "line 29" of seven bytes, a mark before each:
// 160 tokens, 140 bytes, 40 words.
class PerplexityTest : public ::testing::Test {
 protected:
  PerplexityTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    access_.store_folder = folder_.Path("data/.stores");
    access_.work_folder = folder_.Path("work");
    std::string lines;
    for (int i = 0; i < 20; ++i) {
      absl::StrAppend(&lines, "line ", 10 + i, "\n");
    }
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, folder_.Path("data/twenty.txt"), lines));
    options_.text.field = "params";
    options_.text.data = {"twenty.txt"};
    options_.text.documents.format = source::TextFormat::kLines;
    options_.text.marks.begin = true;
    options_.split = Split::kAll;
    options_.lengths = {32};
  }

  std::unique_ptr<tasks::EvaluationTask> Open() {
    auto task = OpenPerplexity(access_, options_);
    EXPECT_TRUE(task.ok()) << task.status();
    return *std::move(task);
  }
  // The scores where window i has i nats.
  static tasks::Scores ScoreOf(const tasks::EvaluationTask& task) {
    tasks::Marked marked;
    for (int64_t i = 0; i < task.size(); ++i) {
      marked.nats.push_back(static_cast<double>(i));
    }
    return task.Score(marked);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
  PerplexityOptions options_;
};

TEST_F(PerplexityTest, AskedIsEachTokenOfAWindowButTheFirst) {
  const auto task = Open();
  ASSERT_EQ(task->size(), 5);
  EXPECT_EQ(task->measure(), tasks::Measure::kLikelihood);
  EXPECT_EQ(task->PromptLength(0), 31);
  const tasks::Question question = task->Generate(1, 1).value();
  ASSERT_EQ(question.prompt.size(), 31u);
  ASSERT_EQ(question.places.size(), 31u);
  EXPECT_EQ(question.places.front(), 0);
  EXPECT_EQ(question.places.back(), 30);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(question.answer[i], question.prompt[i + 1]);
  }
  // The fourth document of the window ends with it.
  EXPECT_EQ(task->tokenizer().Decode(question.answer),
            "line 14line 15line 16line 17");
}

TEST_F(PerplexityTest, AStrideAsksForTheLastTokensOnly) {
  options_.windows.protocol = rows::Protocol::kStride;
  options_.windows.step = 4;
  const auto task = Open();
  ASSERT_EQ(task->size(), 32);
  const tasks::Question question = task->Generate(1, 0).value();
  EXPECT_EQ(question.prompt.size(), 31u);
  EXPECT_THAT(question.places, ElementsAre(27, 28, 29, 30));
  EXPECT_EQ(question.answer.size(), 4u);
}

TEST_F(PerplexityTest, ScoresAreThoseOfTheFormulas) {
  const tasks::Scores scores = ScoreOf(*Open());
  // 0 + 1 + 2 + 3 + 4 nats over five windows of 31 targets.
  const double mean = 10.0 / 155;
  EXPECT_NEAR(scores.metrics.at("perplexity"), std::exp(mean), 1e-12);
  EXPECT_NEAR(scores.metrics.at("perplexity_32"), std::exp(mean), 1e-12);
  EXPECT_NEAR(scores.metrics.at("bits_per_byte"),
              mean * 160 / 140 / std::log(2.0), 1e-12);
  EXPECT_NEAR(scores.metrics.at("word_perplexity"), std::exp(mean * 160 / 40),
              1e-12);
  EXPECT_NEAR(scores.metrics.at("batch_mean_perplexity"), std::exp(mean),
              1e-12);
  EXPECT_EQ(scores.details["tokens"], 160);
  EXPECT_EQ(scores.details["words"], 40);
  EXPECT_EQ(scores.details["protocol"], "blocks");
  EXPECT_EQ(scores.details["vocabulary_size"], 260);
  EXPECT_EQ(scores.details["tokenizer"], "bytes");
}

// Each of the five windows begins in a document of its own, with 0 to 4 nats of
// 31 tokens: squares around 2 sum up to 10.
TEST_F(PerplexityTest, ErrorsAreThoseOfAnotherDrawOfDocuments) {
  const tasks::Scores scores = ScoreOf(*Open());
  const double error = std::sqrt(5.0 / 4 * 10) / 155;
  EXPECT_NEAR(scores.standard_errors.at("perplexity"),
              std::exp(10.0 / 155) * error, 1e-12);
  EXPECT_NEAR(scores.standard_errors.at("perplexity_32"),
              scores.standard_errors.at("perplexity"), 1e-15);
  // They are one batch.
  EXPECT_NEAR(scores.standard_errors.at("batch_mean_perplexity"),
              scores.standard_errors.at("perplexity"), 1e-12);
  EXPECT_NEAR(scores.standard_errors.at("bits_per_byte"),
              error * 160 / 140 / std::log(2.0), 1e-12);
  EXPECT_NEAR(scores.standard_errors.at("word_perplexity"),
              std::exp(10.0 / 155 * 160 / 40) * error * 160 / 40, 1e-12);
  EXPECT_EQ(scores.details["lengths"][0]["perplexity_standard_error"],
            scores.standard_errors.at("perplexity"));
}

TEST_F(PerplexityTest, OneDocumentTellsNoError) {
  options_.text.documents.format = source::TextFormat::kFile;
  EXPECT_TRUE(ScoreOf(*Open()).standard_errors.empty());
}

// Ten documents of a word of seven bytes, and ten of four words. Half of the
// text is read: its words are those of the first ten.
TEST_F(PerplexityTest, BytesAndWordsAreThoseOfWhatWasScored) {
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&lines, i < 10 ? "letters" : "a b c d", "\n");
  }
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder_.Path("data/twenty.txt"), lines));
  options_.max_tokens = 80;
  options_.lengths = {16};
  const auto task = Open();
  ASSERT_EQ(task->size(), 5);
  const tasks::Scores scores = ScoreOf(*task);
  // Of eight tokens a document: a mark and seven bytes, and 75 are scored.
  const ordered_json& row = scores.details["lengths"][0];
  EXPECT_NEAR(row["words"].get<double>(), 75.0 / 8, 1e-12);
  EXPECT_NEAR(row["bytes"].get<double>(), 75.0 * 7 / 8, 1e-12);
  EXPECT_NEAR(scores.metrics.at("word_perplexity"), std::exp(10 / (75.0 / 8)),
              1e-12);
  EXPECT_NEAR(scores.metrics.at("bits_per_byte"),
              10 / (75.0 * 7 / 8) / std::log(2.0), 1e-12);
}

// BiPE's mean weighs the short last batch as a full one.
TEST_F(PerplexityTest, TheMeanOfBatchesWeighsTheLastAsAFullOne) {
  options_.lengths = {16};
  const tasks::Scores scores = ScoreOf(*Open());
  // Ten windows of 15 targets: 0 to 7, and 8 and 9.
  EXPECT_NEAR(scores.metrics.at("perplexity"), std::exp(45.0 / 150), 1e-12);
  EXPECT_NEAR(scores.metrics.at("batch_mean_perplexity"),
              std::exp((28.0 / 120 + 17.0 / 30) / 2), 1e-12);
  // e^0.3, e^0.4, e^(45 / 37.5) and 45 / 131.25 / ln 2.
  EXPECT_EQ(scores.csv,
            "length,windows,scored,tokenizer,vocabulary,perplexity,"
            "batch_mean_perplexity,word_perplexity,bits_per_byte\n"
            "16,10,150,bytes,260,1.34986,1.49182,3.32012,0.494638\n");
  EXPECT_THAT(scores.markdown,
              HasSubstr("| 16 | 10 | 150 | bytes | 260 | 1.34986 | 1.49182 | "
                        "3.32012 | 0.494638 |\n"));
}

// Of a mean of 0.4 each of the eight windows of the first batch has a part of
// 0.05, and each of the two of the last one of 0.2: beyond it are (i - 6) / 120
// of the former and 2 / 30 and 3 / 30 of the latter, whose squares sum up to
// 1 / 48.
TEST_F(PerplexityTest, TheMeanOfBatchesHasAnErrorWithTheirWeights) {
  options_.lengths = {16};
  const tasks::Scores scores = ScoreOf(*Open());
  const double error = std::exp(0.4) * std::sqrt(10.0 / 9 / 48) / 2;
  EXPECT_NEAR(scores.standard_errors.at("batch_mean_perplexity"), error, 1e-12);
  EXPECT_NEAR(scores.standard_errors.at("batch_mean_perplexity_16"), error,
              1e-12);
  EXPECT_EQ(
      scores.details["lengths"][0]["batch_mean_perplexity_standard_error"],
      scores.standard_errors.at("batch_mean_perplexity_16"));
}

TEST_F(PerplexityTest, EachLengthHasItsScoresAndTheTrainedOneIsTheMain) {
  options_.lengths = {64, 32, 16};
  options_.trained_length = 32;
  const auto task = Open();
  EXPECT_EQ(task->size(), 2 + 5 + 10);
  EXPECT_EQ(task->PromptLength(1), 63);
  EXPECT_EQ(task->PromptLength(2), 31);
  EXPECT_EQ(task->PromptLength(16), 15);
  const tasks::Scores scores = ScoreOf(*task);
  EXPECT_EQ(scores.metrics.at("perplexity"),
            scores.metrics.at("perplexity_32"));
  EXPECT_NE(scores.metrics.at("perplexity"),
            scores.metrics.at("perplexity_64"));
  EXPECT_EQ(scores.details["lengths"].size(), 3u);
  EXPECT_THAT(scores.markdown, HasSubstr("| 64 | 2 | 126 |"));
  EXPECT_THAT(scores.csv, HasSubstr("\n16,10,150,"));
}

TEST_F(PerplexityTest, ItemsAreWindowsAndUnitsDocuments) {
  options_.lengths = {16, 32};
  const auto task = Open();
  std::set<std::string> ids;
  for (int64_t i = 0; i < task->size(); ++i) {
    EXPECT_TRUE(ids.insert(task->ItemId(1, i)).second);
  }
  EXPECT_EQ(task->ItemId(1, 0), "16-0");
  EXPECT_EQ(task->ItemId(2, 11), "32-32");
  EXPECT_EQ(task->UnitId(1, 0), "document-0");
  EXPECT_EQ(task->UnitId(1, 11), "document-4");
}

TEST_F(PerplexityTest, OnlySoManyTokensAreReadWhereThatIsSaid) {
  options_.max_tokens = 70;
  EXPECT_EQ(Open()->size(), 2);
}

// Of three documents, 24 tokens, one window of 16 each, and of the last two
// one: with drop_last none.
TEST_F(PerplexityTest, GroupsOfDocumentsAreCutByThemselves) {
  options_.lengths = {16};
  options_.documents_per_group = 3;
  const auto task = Open();
  ASSERT_EQ(task->size(), 7);
  EXPECT_EQ(task->ItemId(1, 1), "16-24");
  EXPECT_EQ(task->UnitId(1, 1), "document-3");
  EXPECT_EQ(task->ItemId(1, 6), "16-144");
  EXPECT_EQ(ScoreOf(*task).details["documents_per_group"], 3);
  // A group that is not read to its end.
  options_.max_tokens = 24 + 15;
  EXPECT_EQ(Open()->size(), 1);
  options_.max_tokens = 0;
  options_.windows.drop_last = true;
  EXPECT_THAT(OpenPerplexity(access_, options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no window of 16 tokens in 160, of which 3 "
                                 "documents go together")));
}

TEST_F(PerplexityTest, TheSplitsShareNoDocument) {
  options_.held_out.per_million = 400000;
  options_.lengths = {8};
  std::set<std::string> texts;
  int64_t windows = 0;
  for (const Split split : {Split::kHeldOut, Split::kTrained}) {
    options_.split = split;
    const auto task = Open();
    windows += task->size();
    for (int64_t i = 0; i < task->size(); ++i) {
      texts.insert(
          task->tokenizer().Decode(task->Generate(1, i).value().answer));
    }
  }
  EXPECT_EQ(windows, 20);
  EXPECT_EQ(texts.size(), 20u);
}

TEST_F(PerplexityTest, AnEmptySplitIsRefusedWithTheFix) {
  options_.split = Split::kHeldOut;
  EXPECT_THAT(
      OpenPerplexity(access_, options_),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("params.split"), HasSubstr("split: all"))));
}

TEST_F(PerplexityTest, MoreWindowsThanAReportHasItemsAreRefused) {
  std::string text(1'000'040, 'a');
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder_.Path("data/twenty.txt"), text));
  options_.windows.protocol = rows::Protocol::kOverlap;
  options_.windows.step = 1;
  EXPECT_THAT(
      OpenPerplexity(access_, options_),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("params.every")));
  options_.windows.every = 2;
  EXPECT_EQ(Open()->size(), 500'005);
}

TEST_F(PerplexityTest, ALengthWithoutAWindowIsRefused) {
  options_.lengths = {32, 161};
  EXPECT_THAT(OpenPerplexity(access_, options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("params.lengths"),
                             HasSubstr("no window of 161 tokens in 160"))));
}

}  // namespace
}  // namespace ordo::model::text::task
