#include "model/text/task/text_samples.h"

#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::task {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

// Documents of 3, 10 and 4 letters, a mark before each, as bytes.
class TextSamplesTest : public ::testing::Test {
 protected:
  TextSamplesTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    access_.store_folder = folder_.Path("data/.stores");
    access_.work_folder = folder_.Path("work");
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    ORDO_EXPECT_OK(base::AtomicWrite(files_, folder_.Path("data/three.txt"),
                                     "abc\nabcdefghij\nwxyz\n"));
    options_.text.field = "params";
    options_.text.data = {"three.txt"};
    options_.text.documents.format = source::TextFormat::kLines;
    options_.text.marks.begin = true;
    options_.split = Split::kAll;
    options_.samples = 10;
    options_.min_length = 3;
    options_.max_length = 5;
  }

  std::unique_ptr<tasks::inside::Rows> Open() {
    auto rows = OpenTextSamples(access_, options_);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return *std::move(rows);
  }
  static std::string Text(const tasks::inside::Rows& rows, int64_t index) {
    return rows.tokenizer().Decode(rows.Get(1, index).value());
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
  TextSamplesOptions options_;
};

TEST_F(TextSamplesTest, DocumentsAreCutAndShortEndsLeftOut) {
  const auto rows = Open();
  // Of the second document one token is left.
  ASSERT_EQ(rows->size(), 4);
  EXPECT_EQ(Text(*rows, 0), "abc");
  EXPECT_EQ(Text(*rows, 1), "abcd");
  EXPECT_EQ(Text(*rows, 2), "efghi");
  EXPECT_EQ(Text(*rows, 3), "wxyz");
  EXPECT_EQ(rows->Get(1, 0).value().size(), 4u);
  EXPECT_EQ(rows->max_length(), 5);
  EXPECT_EQ(rows->Id(1, 0), "0-0");
  EXPECT_EQ(rows->Id(1, 2), "1-5");
  EXPECT_EQ(rows->begin_token(), tasks::kBegin);
  EXPECT_EQ(rows->data_fingerprint().size(), 64u);
}

TEST_F(TextSamplesTest, TheSeedCountsForNothing) {
  const auto rows = Open();
  EXPECT_EQ(rows->Get(1, 2).value(), rows->Get(2, 2).value());
  EXPECT_EQ(rows->Id(1, 2), rows->Id(2, 2));
}

TEST_F(TextSamplesTest, FewerSamplesLieEvenly) {
  options_.samples = 2;
  const auto rows = Open();
  ASSERT_EQ(rows->size(), 2);
  EXPECT_EQ(Text(*rows, 0), "abc");
  EXPECT_EQ(Text(*rows, 1), "efghi");
}

TEST_F(TextSamplesTest, WithoutALongDocumentTheFieldIsNamed) {
  options_.min_length = options_.max_length = 12;
  EXPECT_THAT(OpenTextSamples(access_, options_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has 12 tokens; lower it")));
}

}  // namespace
}  // namespace ordo::model::text::task
