#include "model/text/task/token_data.h"

#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/testing/no_locks.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/source/token_file.h"
#include "model/text/tokenizers/sentence_piece/load.h"
#include "model/text/tokenizers/sentence_piece/train.h"
#include "model/text/tokenizers/testing/bpe_json.h"

namespace ordo::model::text::task {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kSentencePiece[] =
    "model/text/tokenizers/sentence_piece/libordo_sentence_piece.so";

class TokenDataTest : public ::testing::Test {
 protected:
  TokenDataTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    access_.store_folder = folder_.Path("data/.stores");
    access_.work_folder = folder_.Path("work");
    access_.sentence_piece = kSentencePiece;
    options_.field = "data.params";
    options_.documents.format = source::TextFormat::kLines;
    options_.marks.begin = true;
    Write("books/a.txt", "one\ntwo\n");
    Write("books/b.txt", "three\n");
    options_.data = {"books"};
  }

  void Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.Path("data/" + name);
    ORDO_EXPECT_OK(files_.MakeFolders(base::FolderOf(path)));
    ORDO_EXPECT_OK(base::AtomicWrite(files_, path, text));
  }
  absl::StatusOr<std::unique_ptr<tokenizers::TextTokenizer>> Tokenizer() {
    return OpenTokenizer(access_, "data.params.tokenizer", options_.tokenizer);
  }
  absl::StatusOr<std::vector<std::unique_ptr<store::TokenStore>>> Open() {
    const auto tokenizer = Tokenizer();
    if (!tokenizer.ok()) return tokenizer.status();
    return OpenTokenData(access_, options_, **tokenizer);
  }
  // All tokens of the first data, as text.
  std::string Text() {
    const auto stores = Open();
    EXPECT_TRUE(stores.ok()) << stores.status();
    const auto tokens = (*stores)[0]->Read(0, (*stores)[0]->num_tokens());
    return (*Tokenizer())->Decode(*tokens);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  tasks::DataAccess access_;
  TextOptions options_;
};

TEST_F(TokenDataTest, AFolderIsItsFilesInTheirOrder) {
  const auto stores = Open();
  ASSERT_TRUE(stores.ok()) << stores.status();
  ASSERT_THAT(*stores, SizeIs(1));
  EXPECT_THAT((*stores)[0]->documents(), SizeIs(3));
  // A mark before each document.
  EXPECT_EQ((*stores)[0]->num_tokens(), 3 + 3 + 5 + 3);
  EXPECT_EQ(Text(), "onetwothree");
}

TEST_F(TokenDataTest, TokensAreMadeOnceAndTakenAgain) {
  ASSERT_TRUE(Open().ok());
  ASSERT_THAT(files_.List(access_.store_folder).value(), SizeIs(1));
  // Nothing is read again.
  access_.keep_going = [] { return absl::InternalError("read again"); };
  EXPECT_TRUE(Open().ok());
  // What differs is another set.
  options_.marks.begin = false;
  EXPECT_THAT(Open(),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("read again")));
}

TEST_F(TokenDataTest, AChangedFileMakesOtherTokens) {
  const std::string before = FingerprintOf(*Open());
  Write("books/b.txt", "three and four\n");
  EXPECT_NE(FingerprintOf(*Open()), before);
  EXPECT_EQ(Text(), "onetwothree and four");
}

TEST_F(TokenDataTest, TwoOfThemHaveOneFingerprintWhateverThePathIsCalled) {
  Write("more.txt", "four\n");
  options_.data = {"books", "more.txt"};
  const std::string both = FingerprintOf(*Open());
  Write("again.txt", "four\n");
  options_.data = {"books", "again.txt"};
  EXPECT_EQ(FingerprintOf(*Open()), both);
  options_.data = {"again.txt", "books"};
  EXPECT_NE(FingerprintOf(*Open()), both);
}

TEST_F(TokenDataTest, OneMakesThemAndTheOtherWaitsWithSignsOfLife) {
  std::promise<void> begun;
  std::promise<void> go_on;
  access_.keep_going = [&, first = true]() mutable {
    if (std::exchange(first, false)) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return absl::OkStatus();
  };
  tasks::DataAccess other = access_;
  other.work_folder = folder_.Path("other");
  std::thread maker([&] { EXPECT_TRUE(Open().ok()); });
  begun.get_future().wait();
  int asked = 0;
  other.keep_going = [&] {
    if (++asked == 2) {
      go_on.set_value();
      maker.join();
    }
    return absl::OkStatus();
  };
  const auto stores = OpenTokenData(other, options_, **Tokenizer());
  if (maker.joinable()) {
    go_on.set_value();
    maker.join();
  }
  ASSERT_TRUE(stores.ok()) << stores.status();
  EXPECT_THAT((*stores)[0]->documents(), SizeIs(3));
  // It neither read nor wrote anything.
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(base::Exists(files_, other.work_folder));
  EXPECT_THAT(files_.List(access_.store_folder).value(), SizeIs(1));
}

TEST_F(TokenDataTest, WhoWaitsEndsOnAStopAndGoesOnWhereTheMakerFails) {
  tasks::DataAccess other = access_;
  other.work_folder = folder_.Path("other");
  other.keep_going = [] { return absl::CancelledError("stop waiting"); };
  access_.keep_going = [&] {
    EXPECT_THAT(
        OpenTokenData(other, options_, **Tokenizer()),
        StatusIs(absl::StatusCode::kCancelled, HasSubstr("stop waiting")));
    return absl::InternalError("the maker fails");
  };
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInternal));
  EXPECT_FALSE(base::Exists(files_, other.work_folder));
  other.keep_going = [] { return absl::OkStatus(); };
  EXPECT_TRUE(OpenTokenData(other, options_, **Tokenizer()).ok());
}

TEST_F(TokenDataTest, OnStorageWithoutLocksEachMakesThemAndOneWins) {
  tasks::DataAccess other = access_;
  other.work_folder = folder_.Path("other");
  int num_made = 0;
  // In the middle of the one's work the other does all of it.
  access_.keep_going = [&, first = true]() mutable {
    if (!std::exchange(first, false)) return absl::OkStatus();
    const auto stores = OpenTokenData(other, options_, **Tokenizer());
    if (stores.ok()) ++num_made;
    return stores.status();
  };
  absl::Status status;
  const bool ran = base::testing::RunWithoutLocks([&] {
    const auto stores = Open();
    status = stores.status();
    if (stores.ok()) num_made += static_cast<int>(stores->size());
  });
  if (!ran) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(num_made, 2);
  EXPECT_THAT(files_.List(access_.store_folder).value(), SizeIs(1));
  EXPECT_THAT(files_.List(access_.work_folder).value(), SizeIs(0));
}

TEST_F(TokenDataTest, AStopLeavesNothingHalfMade) {
  access_.keep_going = [] { return absl::CancelledError("stop"); };
  EXPECT_THAT(Open(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stop")));
  EXPECT_THAT(files_.List(access_.store_folder).value(), SizeIs(0));
  EXPECT_THAT(files_.List(access_.work_folder).value(), SizeIs(0));
}

TEST_F(TokenDataTest, InvalidUtf8IsNamedByFieldFileAndLine) {
  Write("books/b.txt", "three\nfo\xC0ur\n");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("data.params.data[0]"),
                                     HasSubstr("b.txt, line 2"),
                                     HasSubstr("is not UTF-8"))));
}

TEST_F(TokenDataTest, JsonLinesGiveTheirField) {
  Write("items.jsonl", "{\"body\": \"one\"}\n{\"body\": \"two\"}\n");
  options_.data = {"items.jsonl"};
  options_.documents.format = source::TextFormat::kJsonLines;
  options_.documents.field = "body";
  EXPECT_EQ(Text(), "onetwo");
}

TEST_F(TokenDataTest, ATokenizerJsonIsTakenByItsPath) {
  Write("tokenizer.json", tokenizers::testing::BpeJson({"o n", "on e"}).dump());
  options_.tokenizer = "tokenizer.json";
  options_.marks = {false, true};
  const auto stores = Open();
  ASSERT_TRUE(stores.ok()) << stores.status();
  // "one" is one token.
  EXPECT_EQ((*stores)[0]->num_tokens(), 1 + 3 + 5 + 3);
}

TEST_F(TokenDataTest, AFileThatIsNoTokenizerIsRefusedByItsField) {
  Write("tokenizer.json", "{}");
  options_.tokenizer = "tokenizer.json";
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("data.params.tokenizer")));
  options_.tokenizer = "none.json";
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr("data.params.tokenizer")));
}

TEST_F(TokenDataTest, AMarkThatTheTokenizerLacksIsRefused) {
  auto json = tokenizers::testing::BpeJson({});
  json["added_tokens"] = nlohmann::ordered_json::array();
  Write("tokenizer.json", json.dump());
  options_.tokenizer = "tokenizer.json";
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("data.params.marks")));
}

TEST_F(TokenDataTest, SentencePieceIsTakenByItsPath) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer refuses a library with a scope of its own";
#endif
  const auto library = tokenizers::sentence_piece::LoadLibrary(kSentencePiece);
  ASSERT_TRUE(library.ok()) << library.status();
  tokenizers::sentence_piece::TrainOptions train;
  train.vocabulary_size = 300;
  int left = 200;
  const auto model = tokenizers::sentence_piece::TrainSentencePiece(
      *library, train, [&]() -> absl::StatusOr<std::optional<std::string>> {
        if (left-- == 0) return std::optional<std::string>();
        return std::optional<std::string>(
            absl::StrCat("one two three and the garden wall ", left));
      });
  ASSERT_TRUE(model.ok()) << model.status();
  Write("pieces.model", *model);
  options_.tokenizer = "pieces.model";
  EXPECT_EQ(Open().value()[0]->index().vocabulary_size, 300);
}

TEST_F(TokenDataTest, WithoutItsLibrarySentencePieceSaysWhatIsMissing) {
  Write("pieces.model", "x");
  options_.tokenizer = "pieces.model";
  access_.sentence_piece = folder_.Path("none.so");
  EXPECT_THAT(Open(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.so")));
}

TEST_F(TokenDataTest, TokenFilesOfAnotherTokenizerAreRefused) {
  source::TokenFileInfo info;
  info.num_tokens = 2;
  info.tokenizer_sha256 = (*Tokenizer())->digest();
  Write("flat.bin", std::string("\x05\0\x06\0", 4));
  Write("flat.bin.json", source::TokenFileInfoText(info));
  options_.data = {"flat.bin"};
  options_.token_files = true;
  EXPECT_EQ(Open().value()[0]->num_tokens(), 2);
  info.tokenizer_sha256 = std::string(64, '0');
  Write("flat.bin.json", source::TokenFileInfoText(info));
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("data.params.data[0]")));
}

}  // namespace
}  // namespace ordo::model::text::task
