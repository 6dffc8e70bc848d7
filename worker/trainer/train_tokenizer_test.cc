#include "worker/trainer/train_tokenizer.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

class TrainTokenizerTest : public ::testing::Test {
 protected:
  TrainTokenizerTest() {
    options_.data = {folder_.Path("text")};
    options_.out = folder_.Path("made/pieces.model");
    options_.vocabulary_size = 300;
    options_.sentence_piece =
        "model/text/tokenizers/sentence_piece/libordo_sentence_piece.so";
    std::string plain;
    std::string json;
    std::string other;
    for (int i = 0; i < 200; ++i) {
      const std::string line = absl::StrCat(
          "the cat sat on the mat while another animal watched it ", i);
      absl::StrAppend(&plain, line, "\n");
      absl::StrAppend(&json, "{\"body\": \"", line, "\"}\n");
      absl::StrAppend(&other, "one two three and the garden wall\n");
    }
    Put("text/a.txt", plain);
    Put("text/b.txt", other);
    Put("text/.hidden", "\xC0");
    Put("items.jsonl", json);
  }

  void Put(const std::string& name, const std::string& text) {
    const std::string path = folder_.Path(name);
    ORDO_EXPECT_OK(files_.MakeFolders(base::FolderOf(path)));
    ORDO_EXPECT_OK(base::AtomicWrite(files_, path, text));
  }

  // The file that is made, at another place each time.
  std::string Made() {
    options_.out = folder_.Path(absl::StrCat("made/", ++num_made_, ".model"));
    const auto said = TrainTokenizer(files_, options_);
    EXPECT_TRUE(said.ok()) << said.status();
    return base::ReadFile(files_, options_.out, 1 << 20).value_or("");
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  TrainTokenizerOptions options_;
  int num_made_ = 0;
};

TEST_F(TrainTokenizerTest, SaysWhatAJobSetsForIt) {
  const auto said = TrainTokenizer(files_, options_);
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_THAT(*said, AllOf(HasSubstr("made/pieces.model: 300 tokens, SHA-256 "),
                           HasSubstr("model.vocabulary_size: 300\n")));
  EXPECT_TRUE(base::Exists(files_, options_.out));
}

TEST_F(TrainTokenizerTest, SaysWhatItReadAndWhereThatWasNotAll) {
  const auto size = [&](const std::string& name) {
    return base::ReadFile(files_, folder_.Path(name), 1 << 20)->size();
  };
  const auto all = TrainTokenizer(files_, options_);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(*all, ::testing::EndsWith(absl::StrCat(
                        "\nread ", size("text/a.txt") + size("text/b.txt"),
                        " bytes of text\n")));
  options_.out = folder_.Path("made/less.model");
  options_.max_bytes = 5000;
  const auto less = TrainTokenizer(files_, options_);
  ASSERT_TRUE(less.ok()) << less.status();
  EXPECT_THAT(*less, AllOf(HasSubstr("\nread 5000 bytes of text\nwarning: "),
                           HasSubstr("text/a.txt it ended")));
}

TEST_F(TrainTokenizerTest, TheSameTextMakesTheSameFile) {
  const std::string bpe = Made();
  EXPECT_FALSE(bpe.empty());
  EXPECT_EQ(Made(), bpe);
  options_.type = "bpe";
  EXPECT_EQ(Made(), bpe);
  options_.type = "unigram";
  const std::string unigram = Made();
  EXPECT_EQ(Made(), unigram);
  EXPECT_NE(unigram, bpe);
}

TEST_F(TrainTokenizerTest, AFolderIsItsFilesInTheirOrder) {
  const std::string whole = Made();
  options_.data = {folder_.Path("text/a.txt"), folder_.Path("text/b.txt")};
  EXPECT_EQ(Made(), whole);
  options_.data.pop_back();
  EXPECT_NE(Made(), whole);
}

TEST_F(TrainTokenizerTest, JsonLinesGiveTheirField) {
  options_.data = {folder_.Path("text/a.txt")};
  options_.format = "lines";
  const std::string plain = Made();
  options_.data = {folder_.Path("items.jsonl")};
  options_.format = "json_lines";
  options_.field = "body";
  EXPECT_EQ(Made(), plain);
}

TEST_F(TrainTokenizerTest, OptionsThatAreWrongAreNamed) {
  const auto expect = [&](const TrainTokenizerOptions& options,
                          const std::string& message) {
    EXPECT_THAT(TrainTokenizer(files_, options),
                StatusIs(kInvalid, HasSubstr(message)));
  };
  TrainTokenizerOptions wrong = options_;
  wrong.type = "bpee";
  expect(wrong, "--type: 'bpee' is not known");
  wrong = options_;
  wrong.format = "json";
  expect(wrong, "--format: 'json' is not known");
  wrong = options_;
  wrong.field = "body";
  expect(wrong, "--field: only --format json_lines");
  wrong = options_;
  wrong.data.clear();
  expect(wrong, "--data: must name");
  wrong = options_;
  wrong.out = folder_.Path("pieces");
  expect(wrong, "must end in .model");
  Put("there.model", "x");
  wrong.out = folder_.Path("there.model");
  expect(wrong, "exists already");
  wrong = options_;
  wrong.vocabulary_size = 100000;
  expect(wrong, "train a SentencePiece model");
}

TEST_F(TrainTokenizerTest, TextThatIsNotThereIsMissingData) {
  options_.data.push_back(folder_.Path("none"));
  const auto said = TrainTokenizer(files_, options_);
  EXPECT_THAT(said, StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  EXPECT_EQ(ExitCodeOf(said.status()), ordo::training::v1::DATA_MISSING);
}

TEST_F(TrainTokenizerTest, InvalidUtf8IsNamedAndLeavesNoFile) {
  Put("text/c.txt", "fo\xC0ur\n");
  EXPECT_THAT(TrainTokenizer(files_, options_),
              StatusIs(kInvalid, AllOf(HasSubstr("c.txt, line 1"),
                                       HasSubstr("is not UTF-8"))));
  EXPECT_FALSE(base::Exists(files_, options_.out));
}

TEST_F(TrainTokenizerTest, AFolderThatCannotBeMadeIsAStorageError) {
  options_.out = "/proc/ordo/pieces.model";
  EXPECT_EQ(ExitCodeOf(TrainTokenizer(files_, options_).status()),
            ordo::training::v1::STORAGE_ERROR);
}

}  // namespace
}  // namespace ordo::worker::trainer
