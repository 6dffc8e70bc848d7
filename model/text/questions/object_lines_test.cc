#include "model/text/questions/object_lines.h"

#include "absl/status/status.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::questions {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class ObjectLinesTest : public ::testing::Test {
 protected:
  // The error of the file, or the digest of its lines.
  absl::StatusOr<std::string> Read(const std::string& bytes) {
    const std::string path = folder_.Path("a.jsonl");
    EXPECT_TRUE(base::ReplaceFile(files_, path, bytes).ok());
    auto reader = ObjectReader::Open(files_, path, "{}");
    if (!reader.ok()) return reader.status();
    while (true) {
      auto line = (*reader)->Next();
      if (!line.ok()) return line.status();
      if (!line->has_value()) return (*reader)->FinishDigest();
      lines_.push_back(**std::move(line));
    }
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  std::vector<ObjectLine> lines_;
};

TEST_F(ObjectLinesTest, ObjectsKnowTheirLine) {
  ASSERT_TRUE(Read("{\"a\": 1}\n\n{\"a\": 2}\r\n").ok());
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_EQ(lines_[1].object["a"], 2);
  EXPECT_THAT(lines_[1].where, HasSubstr("a.jsonl, line 3"));
}

TEST_F(ObjectLinesTest, AMissingFileIsToldWithItsLayout) {
  EXPECT_THAT(
      ObjectReader::Open(files_, folder_.Path("b.jsonl"), R"({"id": "..."})")
          .status(),
      StatusIs(absl::StatusCode::kNotFound,
               AllOf(HasSubstr("b.jsonl"), HasSubstr(R"({"id": "..."})"))));
}

TEST_F(ObjectLinesTest, TheDigestIsThatOfTheLines) {
  const std::string text = "{\"a\": 1}\n{\"a\": 2}\n";
  EXPECT_THAT(Read(text), IsOkAndHolds(base::Sha256Hex(text)));
  EXPECT_THAT(Read("{\"a\": 1}\r\n\r\n{\"a\": 2}"),
              IsOkAndHolds(base::Sha256Hex(text)));
}

TEST_F(ObjectLinesTest, WhatIsNoObjectIsRefusedWithItsLine) {
  for (const char* line :
       {"[1]", "{\"a\":", "3", "{} {}", R"({"a": "\ud800"})"}) {
    EXPECT_THAT(
        Read(std::string("{}\n") + line),
        StatusIs(kInvalid, HasSubstr("a.jsonl, line 2: it is not a JSON")))
        << line;
  }
}

TEST_F(ObjectLinesTest, InvalidUtf8IsRefusedWithItsLine) {
  EXPECT_THAT(Read("{}\n{\"a\": \"x\xC0\"}"),
              StatusIs(kInvalid, AllOf(HasSubstr("a.jsonl, line 2"),
                                       HasSubstr("is not UTF-8"))));
}

TEST_F(ObjectLinesTest, FieldsThatAreThereTwiceAreRefused) {
  const auto read = Read(R"({"a": {"b": 1}, "b": [{"c": 1, "c": 2}]})");
  EXPECT_THAT(read, StatusIs(kInvalid, HasSubstr("line 1: c: is there twice")));
  EXPECT_EQ(base::FieldViolations(read.status()).at(0).field, "c");
}

TEST_F(ObjectLinesTest, FieldsHaveTheirKind) {
  ASSERT_TRUE(Read(R"({"s": "x", "l": ["y", "z"], "n": 3, "o": {}})").ok());
  const ObjectLine& line = lines_[0];
  EXPECT_THAT(StringField(line, "s"), IsOkAndHolds("x"));
  EXPECT_THAT(StringsField(line, "l"), IsOkAndHolds(ElementsAre("y", "z")));
  EXPECT_THAT(IntegerField(line, "n"), IsOkAndHolds(3));
  EXPECT_THAT(StringField(line, "n"),
              StatusIs(kInvalid, HasSubstr("line 1: n: must be a string")));
  EXPECT_THAT(StringsField(line, "s"),
              StatusIs(kInvalid, HasSubstr("must be a list of strings")));
  EXPECT_THAT(IntegerField(line, "s"),
              StatusIs(kInvalid, HasSubstr("must be a whole number")));
  EXPECT_THAT(ObjectField(line, "l"),
              StatusIs(kInvalid, HasSubstr("must be an object")));
}

TEST_F(ObjectLinesTest, MissingFieldsAreNamedWithTheNearest) {
  ASSERT_TRUE(Read(R"({"question": "x"})").ok());
  EXPECT_THAT(StringField(lines_[0], "qestion"),
              StatusIs(kInvalid, AllOf(HasSubstr("it has no field 'qestion'"),
                                       HasSubstr("did you mean 'question'?"))));
}

}  // namespace
}  // namespace ordo::model::text::questions
