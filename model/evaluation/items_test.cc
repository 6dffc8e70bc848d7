#include "model/evaluation/items.h"

#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::evaluation {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

Item MakeItem(const std::string& id, double score) {
  Item item;
  item.id = id;
  item.unit = id;
  item.score = score;
  return item;
}

class ItemsTest : public ::testing::Test {
 protected:
  // All items of a file, or the first error.
  absl::StatusOr<std::vector<Item>> Read() {
    auto reader = ItemReader::Open(files_, path_);
    if (!reader.ok()) return reader.status();
    std::vector<Item> items;
    while (true) {
      auto item = reader->Next();
      if (!item.ok()) return item.status();
      if (!item->has_value()) return items;
      items.push_back(**item);
    }
  }

  absl::Status ErrorOf(const std::string& text) {
    ORDO_EXPECT_OK(base::AtomicWrite(files_, path_, text));
    return Read().status();
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  const std::string path_ = folder_.Path(kItemsFile);
};

TEST_F(ItemsTest, ALineHasWhatDiffersFromTheUsual) {
  Item item = MakeItem("1-7", 1);
  item.output = "5 \"x\"";
  EXPECT_EQ(ItemLine(item),
            "{\"id\":\"1-7\",\"score\":1.0,\"output\":\"5 \\\"x\\\"\"}\n");
  item.unit = "page 3";
  item.score = 0.75;
  item.marks = {1, 0, 1, 1};
  item.output_cut = true;
  EXPECT_EQ(ItemLine(item),
            "{\"id\":\"1-7\",\"unit\":\"page 3\",\"score\":0.75,"
            "\"marks\":\"1011\",\"output\":\"5 \\\"x\\\"\","
            "\"output_cut\":true}\n");
}

TEST_F(ItemsTest, AnOutputIsCutBetweenCharacters) {
  Item item;
  SetOutput(std::string(kMaxOutputBytes, 'x'), &item);
  EXPECT_EQ(item.output.size(), kMaxOutputBytes);
  EXPECT_FALSE(item.output_cut);
  SetOutput(std::string(kMaxOutputBytes - 1, 'x') + "\u00e9", &item);
  EXPECT_EQ(item.output, std::string(kMaxOutputBytes - 1, 'x'));
  EXPECT_TRUE(item.output_cut);
}

TEST_F(ItemsTest, AnOutputThatIsNoTextIsWrittenAllTheSame) {
  Item item = MakeItem("1-0", 0);
  item.output = "a\xff";
  ORDO_ASSERT_OK(WriteItems(files_, folder_.path(), {item}));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto items, Read());
  EXPECT_EQ(items[0].output, "a\uFFFD");
}

// Several parts of the file, in which lines begin anywhere.
TEST_F(ItemsTest, WhatIsWrittenIsReadBackHoweverMuchItIs) {
  std::vector<Item> written;
  for (int i = 0; i < 5000; ++i) {
    Item& item = written.emplace_back(MakeItem(absl::StrCat("1-", i), i % 2));
    if (i % 3 == 0) item.unit = absl::StrCat("page ", i / 10);
    if (i % 5 == 0) item.marks = {1, 0, 1};
    SetOutput(std::string(i % 1500, 'y'), &item);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const auto info,
                            WriteItems(files_, folder_.path(), written));
  EXPECT_GT(info.size_bytes(), 1 << 20);
  EXPECT_EQ(info.path(), kItemsFile);
  EXPECT_EQ(info.sha256(), base::Sha256HexOfFile(files_, path_).value());
  EXPECT_EQ(info.size_bytes(),
            static_cast<int64_t>(files_.Stat(path_)->size_bytes));
  ORDO_ASSERT_OK_AND_ASSIGN(const auto items, Read());
  ASSERT_EQ(items.size(), written.size());
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(items[i].id, written[i].id);
    EXPECT_EQ(items[i].unit, written[i].unit);
    EXPECT_EQ(items[i].score, written[i].score);
    EXPECT_EQ(items[i].marks, written[i].marks);
    EXPECT_EQ(items[i].output, written[i].output);
    EXPECT_EQ(items[i].output_cut, written[i].output_cut);
  }
}

TEST_F(ItemsTest, ManyAreNotHeldAsTextAtOnce) {
  Item item = MakeItem("1-0", 1);
  item.output = std::string(kMaxOutputBytes, 'y');
  base::testing::FaultyFilesystem full(files_);
  full.Fail(base::testing::FileOperation::kAppend, kItemsFile, ENOSPC,
            /*num_passed=*/3);
  // Of more than a MiB.
  EXPECT_FALSE(
      WriteItems(full, folder_.path(), std::vector<Item>(1024, item)).ok());
  EXPECT_GT(files_.Stat(path_)->size_bytes, 3u << 18);
  EXPECT_LT(files_.Stat(path_)->size_bytes, 1u << 20);
}

TEST_F(ItemsTest, NoItemIsAnEmptyFile) {
  ORDO_ASSERT_OK(WriteItems(files_, folder_.path(), {}));
  EXPECT_EQ(base::ReadFile(files_, path_, 10).value(), "");
  EXPECT_TRUE(Read().value().empty());
}

TEST_F(ItemsTest, ADiskThatIsFullIsSaid) {
  base::testing::FaultyFilesystem full(files_);
  full.LimitDisk(10);
  EXPECT_THAT(
      WriteItems(full, folder_.path(), {MakeItem("1-0", 1)}),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("items.jsonl")));
}

TEST_F(ItemsTest, DamageIsNamedByItsLine) {
  const std::string good = ItemLine(MakeItem("1-0", 1));
  EXPECT_THAT(
      ErrorOf(good + "{\n"),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr(path_), HasSubstr("line 2: it is no JSON"))));
  EXPECT_THAT(ErrorOf(good + good.substr(0, good.size() - 1)),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("line 2: it has no end")));
  EXPECT_THAT(ErrorOf("{\"id\": 5, \"score\": 1, \"output\": \"\"}\n"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("line 1: ")));
  EXPECT_THAT(ErrorOf("{\"id\": \"a\", \"output\": \"\"}\n"),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("score")));
  EXPECT_THAT(ErrorOf("{\"id\": \"a\", \"score\": 1, \"output\": \"\", "
                      "\"marks\": \"12\"}\n"),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("a mark is neither 0 nor 1")));
}

TEST_F(ItemsTest, ALineWithoutEndIsNotReadWhole) {
  EXPECT_THAT(ErrorOf(std::string(5 << 20, 'x')),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("line 1: it has more than")));
}

}  // namespace
}  // namespace ordo::model::evaluation
