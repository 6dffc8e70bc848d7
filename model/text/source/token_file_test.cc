#include "model/text/source/token_file.h"

#include <utility>
#include <zstd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::source {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Tokens = std::vector<int64_t>;

class TokenFileTest : public ::testing::Test {
 protected:
  TokenFileTest() { expected_ = {std::string(64, 'a'), 1000}; }

  void Write(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(base::ReplaceFile(files_, folder_.Path(name), bytes).ok());
  }
  // x.bin, and what the file beside it says.
  void WriteTokens(const Tokens& tokens, TokenType type) {
    std::string bytes;
    AppendTokens(tokens, type, &bytes);
    Write("x.bin", bytes);
    Write("x.bin.json", TokenFileInfoText({type, tokens.size(),
                                           expected_.tokenizer_sha256, "s"}));
  }
  absl::StatusOr<Tokens> Read(const std::string& name = "x.bin") {
    auto reader = OpenTokens(files_, folder_.Path(name), expected_);
    if (!reader.ok()) return reader.status();
    Tokens all;
    while (true) {
      const auto tokens = (*reader)->Next();
      if (!tokens.ok()) return tokens.status();
      if (tokens->empty()) return all;
      all.insert(all.end(), tokens->begin(), tokens->end());
    }
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  ExpectedTokens expected_;
};

TEST_F(TokenFileTest, GivesTheTokensOfBothTypes) {
  Tokens tokens;
  for (int64_t i = 0; i < 300000; ++i) tokens.push_back(i % 1000);
  for (const TokenType type : {TokenType::kUint16, TokenType::kUint32}) {
    WriteTokens(tokens, type);
    EXPECT_THAT(Read(), IsOkAndHolds(tokens));
  }
}

TEST_F(TokenFileTest, ACompressedFileSharesTheDescription) {
  WriteTokens({1, 2, 3}, TokenType::kUint16);
  const std::string bytes("\x07\x00\x08\x00\x09\x00", 6);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(),
                              bytes.size(), 3));
  Write("x.bin.zst", packed);
  EXPECT_THAT(Read("x.bin.zst"), IsOkAndHolds(Tokens{7, 8, 9}));
}

TEST_F(TokenFileTest, RefusesTokensOfAnotherTokenizer) {
  WriteTokens({1, 2, 3}, TokenType::kUint16);
  expected_.tokenizer_sha256 = std::string(64, 'b');
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("with SHA-256 aaaa"),
                                     HasSubstr("that with bbbb"))));
}

TEST_F(TokenFileTest, NamesATokenOutsideOfTheVocabulary) {
  WriteTokens({1, 999, 1000, 3}, TokenType::kUint16);
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("token 2 is 1000, outside")));
}

TEST_F(TokenFileTest, SeesThatTokensAreMissingOrTooMany) {
  WriteTokens({1, 2, 3}, TokenType::kUint16);
  for (const std::string& bytes :
       {std::string("\x01\x00\x02\x00", 4),
        std::string("\x01\x00\x02\x00\x03", 5), std::string(7, '\0'),
        std::string(8, '\0')}) {
    Write("x.bin", bytes);
    EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kDataLoss,
                                 HasSubstr("3 tokens that")))
        << bytes.size();
  }
}

TEST_F(TokenFileTest, SaysHowToDescribeAFile) {
  Write("x.bin", "");
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("x.bin.json: it is missing"),
                                     HasSubstr(R"({"dtype": "uint16")"))));
}

TEST_F(TokenFileTest, NamesTheFieldThatIsWrong) {
  Write("x.bin", "");
  const std::string digest(64, 'a');
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "not a JSON object"},
      {"{", "not a JSON object"},
      {R"({"dtype": "int8"})", "dtype must be"},
      {R"({"tokens": 3})", "dtype must be"},
      {R"({"dtype": "uint16", "tokens": -1})", "tokens must be"},
      {R"({"dtype": "uint16", "tokens": 1.5})", "tokens must be"},
      {R"({"dtype": "uint16", "tokens": 1, "tokenizer_sha256": "A"})",
       "tokenizer_sha256 must be"},
  };
  for (const auto& [text, message] : cases) {
    Write("x.bin.json", text);
    EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr(message)))
        << text;
  }
}

TEST_F(TokenFileTest, TheDescriptionComesBack) {
  WriteTokens({1, 2, 3}, TokenType::kUint32);
  const auto info = ReadTokenFileInfo(files_, folder_.Path("x.bin"));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->type, TokenType::kUint32);
  EXPECT_EQ(info->num_tokens, 3);
  EXPECT_EQ(info->tokenizer_sha256, std::string(64, 'a'));
  EXPECT_EQ(info->source, "s");
}

}  // namespace
}  // namespace ordo::model::text::source
