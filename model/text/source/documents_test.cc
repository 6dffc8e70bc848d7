#include "model/text/source/documents.h"

#include <vector>
#include <zlib.h>

#include "absl/status/status.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::source {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DocumentsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::vector<std::string>> Read(const std::string& bytes) {
    EXPECT_TRUE(base::ReplaceFile(files_, Path(), bytes).ok());
    return ReadFile();
  }
  absl::StatusOr<std::vector<std::string>> ReadFile() {
    auto reader = OpenDocuments(files_, Path(), options_);
    if (!reader.ok()) return reader.status();
    std::vector<std::string> documents;
    while (true) {
      auto document = (*reader)->Next();
      if (!document.ok()) return document.status();
      if (!document->has_value()) return documents;
      documents.push_back(**std::move(document));
    }
  }
  std::string Path() const { return folder_.Path(name_); }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  std::string name_ = "a.txt";
  DocumentOptions options_;
};

TEST_F(DocumentsTest, AFileIsOneDocument) {
  EXPECT_THAT(Read("one\ntwo\r\n"), IsOkAndHolds(ElementsAre("one\ntwo\r\n")));
  EXPECT_THAT(Read(""), IsOkAndHolds(IsEmpty()));
}

TEST_F(DocumentsTest, LinesAreDocumentsWithoutTheirEnds) {
  options_.format = TextFormat::kLines;
  EXPECT_THAT(Read("one\n\ntwo \r\n \t\r\nthree"),
              IsOkAndHolds(ElementsAre("one", "two ", "three")));
}

TEST_F(DocumentsTest, FieldsOfJsonLinesAreDocuments) {
  options_.format = TextFormat::kJsonLines;
  options_.field = "body";
  EXPECT_THAT(Read("{\"body\": \"a\\nb\"}\r\n\n{\"id\": 1, \"body\": \"c\"}\n"
                   "{\"body\": \"\"}\n"),
              IsOkAndHolds(ElementsAre("a\nb", "c")));
}

TEST_F(DocumentsTest, ALineMayBeLongerThanAChunk) {
  options_.format = TextFormat::kLines;
  const std::string line(700000, 'x');
  EXPECT_THAT(Read(line + "\n" + line + "y\n"),
              IsOkAndHolds(ElementsAre(line, line + "y")));
}

TEST_F(DocumentsTest, AByteOrderMarkIsNoText) {
  EXPECT_THAT(Read("\xEF\xBB\xBFone"), IsOkAndHolds(ElementsAre("one")));
  EXPECT_THAT(Read("\xEF\xBB\xBF"), IsOkAndHolds(IsEmpty()));
}

TEST_F(DocumentsTest, SaysWhichByteOfWhichLineIsNotUtf8) {
  EXPECT_THAT(Read("one\nt\xC3\xA9\n\xE9t\xE9"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("line 3: byte 9 of the file is not UTF-8")));
  options_.format = TextFormat::kLines;
  EXPECT_THAT(Read("one\nt\xC3\xA9\n\xE9t\xE9"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("line 3: byte 9 of the file is not UTF-8")));
}

TEST_F(DocumentsTest, CountsTheByteOrderMarkInOffsets) {
  EXPECT_THAT(Read("\xEF\xBB\xBF\xFF"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("line 1: byte 4 of the file is not UTF-8")));
}

TEST_F(DocumentsTest, SaysWhereADocumentLies) {
  options_.format = TextFormat::kLines;
  ASSERT_TRUE(base::ReplaceFile(files_, Path(), "one\n\n \nfour\n").ok());
  const auto reader = OpenDocuments(files_, Path(), options_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE((*reader)->Next().ok());
  EXPECT_EQ((*reader)->Where(), "read " + Path() + ", line 1");
  ASSERT_TRUE((*reader)->Next().ok());
  EXPECT_EQ((*reader)->Where(), "read " + Path() + ", line 4");
}

TEST_F(DocumentsTest, SaysWhichLineLacksTheField) {
  options_.format = TextFormat::kJsonLines;
  EXPECT_THAT(Read("{\"text\": \"a\"}\n\n{\"txt\": \"b\"}\n"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a.txt, line 3: it has no field 'text'; did "
                                 "you mean 'txt'?")));
}

TEST_F(DocumentsTest, RefusesADocumentThatIsTooLong) {
  options_.max_bytes = 5;
  EXPECT_THAT(Read("12345"), IsOkAndHolds(ElementsAre("12345")));
  EXPECT_THAT(Read("123456"), StatusIs(absl::StatusCode::kResourceExhausted,
                                       HasSubstr("more than 5 bytes")));
}

TEST_F(DocumentsTest, ReadsCompressedFilesAndCountsTheirText) {
  name_ = "a.jsonl.gz";
  options_.format = TextFormat::kJsonLines;
  const auto write = [&](const std::string& text) {
    gzFile file = gzopen(Path().c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
  };
  write("{\"text\": \"a\"}\n");
  EXPECT_THAT(ReadFile(), IsOkAndHolds(ElementsAre("a")));
  write("{\"text\": \"a\"}\n\xFF\n");
  EXPECT_THAT(ReadFile(), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("line 2: byte 15 of the "
                                             "decompressed text")));
}

}  // namespace
}  // namespace ordo::model::text::source
