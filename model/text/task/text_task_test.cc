#include "model/text/task/text_task.h"

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::task {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class TextTaskTest : public ::testing::Test {
 protected:
  TextTaskTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    access_.store_folder = folder_.Path("data/.stores");
    access_.work_folder = folder_.Path("work");
    std::string lines;
    for (int i = 0; i < 20; ++i) {
      absl::StrAppend(&lines, "line ", 10 + i, "\n");
    }
    Write("twenty.txt", lines);
    options_.text.field = "data.params";
    options_.text.data = {"twenty.txt"};
    options_.text.documents.format = source::TextFormat::kLines;
    options_.text.marks.begin = true;
    options_.packing.row_length = 16;
  }

  void Write(const std::string& name, const std::string& text) {
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, folder_.Path("data/" + name), text));
  }
  std::unique_ptr<tasks::TrainingTask> Open() {
    auto task = OpenTextTask(access_, options_);
    EXPECT_TRUE(task.ok()) << task.status();
    return *std::move(task);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
  TextTaskOptions options_;
};

// A mark and seven bytes a document, so two documents a row.
TEST_F(TextTaskTest, AnEpochHasEachDocumentOnce) {
  const auto task = Open();
  std::set<std::string> rows;
  for (uint64_t index = 0; index < 10; ++index) {
    const tasks::Sample sample = task->Generate(1, index).value();
    EXPECT_EQ(sample.tokens.size(), 16u);
    EXPECT_EQ(sample.tokens[0], tasks::kBegin);
    EXPECT_EQ(sample.tokens[8], tasks::kBegin);
    EXPECT_EQ(sample.scored[0], 0);
    EXPECT_EQ(sample.scored[8], 1);
    EXPECT_TRUE(sample.starts.empty());
    rows.insert(task->tokenizer().Decode(sample.tokens));
  }
  EXPECT_EQ(rows.size(), 10u);
  EXPECT_EQ(rows.count("line 10line 11"), 1u);
}

TEST_F(TextTaskTest, RowsAreAPureFunctionOfSeedAndNumber) {
  const auto task = Open();
  const auto later = task->Generate(3, 777).value().tokens;
  for (uint64_t index = 0; index < 5; ++index) {
    EXPECT_TRUE(task->Generate(3, index).ok());
  }
  // Another process, that finds the tokens made.
  EXPECT_EQ(Open()->Generate(3, 777).value().tokens, later);
  EXPECT_NE(task->Generate(4, 777).value().tokens, later);
}

TEST_F(TextTaskTest, DocumentsApartSayWhereTheyBegin) {
  options_.packing.separate_documents = true;
  options_.packing.row_length = 20;
  const tasks::Sample sample = Open()->Generate(1, 0).value();
  ASSERT_FALSE(sample.starts.empty());
  EXPECT_EQ(sample.starts[0], 0);
  for (const int start : sample.starts) EXPECT_EQ(sample.scored[start], 0);
}

TEST_F(TextTaskTest, WhatIsHeldOutIsNotInTheRows) {
  options_.held_out.per_million = 500000;
  options_.packing.row_length = 8;
  const auto task = Open();
  std::set<std::string> rows;
  for (uint64_t index = 0; index < 200; ++index) {
    rows.insert(
        task->tokenizer().Decode(task->Generate(1, index).value().tokens));
  }
  EXPECT_GT(rows.size(), 2u);
  EXPECT_LT(rows.size(), 18u);
}

TEST_F(TextTaskTest, RowsAreMixedByWeight) {
  Write("other.txt", "OTHER 1\nOTHER 2\n");
  options_.text.data = {"twenty.txt", "other.txt"};
  options_.weights = {3, 1};
  const auto task = Open();
  int others = 0;
  for (uint64_t index = 0; index < 400; ++index) {
    const auto tokens = task->Generate(1, index).value().tokens;
    others += task->tokenizer().Decode(tokens).find("OTHER") == 0 ? 1 : 0;
  }
  EXPECT_EQ(others, 100);
}

TEST_F(TextTaskTest, TooFewTokensForARowAreRefused) {
  options_.packing.row_length = 1000;
  EXPECT_THAT(
      OpenTextTask(access_, options_),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("data.params.data"), HasSubstr("1000 tokens"),
                     HasSubstr("too few tokens"))));
}

TEST_F(TextTaskTest, TokensThatAreGoneHaveTheReason) {
  const auto task = Open();
  const std::string store = base::JoinPath(
      access_.store_folder, files_.List(access_.store_folder).value()[0]);
  ORDO_ASSERT_OK(files_.Truncate(store + "/shard-00000.tokens", 0));
  const absl::Status status = task->Generate(1, 0).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  ASSERT_TRUE(base::GetErrorInfo(status).has_value());
  EXPECT_EQ(base::GetErrorInfo(status)->reason, tasks::kDataMissingReason);
}

TEST_F(TextTaskTest, TheFingerprintIsThatOfTheText) {
  const std::string before = Open()->data_fingerprint();
  EXPECT_EQ(before.size(), 64u);
  options_.packing.row_length = 8;
  EXPECT_EQ(Open()->data_fingerprint(), before);
  Write("twenty.txt", "another text\nthan it was\n");
  EXPECT_NE(Open()->data_fingerprint(), before);
}

}  // namespace
}  // namespace ordo::model::text::task
