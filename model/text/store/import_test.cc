#include "model/text/store/import.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/store/token_store.h"
#include "model/text/tokenizers/byte_tokenizer.h"

namespace ordo::model::text::store {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Tokens = std::vector<int64_t>;

class FixedDocuments : public source::DocumentReader {
 public:
  explicit FixedDocuments(std::vector<std::string> texts)
      : texts_(std::move(texts)) {}
  absl::StatusOr<std::optional<std::string>> Next() override {
    if (next_ == texts_.size()) return std::optional<std::string>();
    return std::optional<std::string>(texts_[next_++]);
  }
  std::string Where() const override {
    return "read a.txt, line " + std::to_string(next_);
  }

 private:
  const std::vector<std::string> texts_;
  size_t next_ = 0;
};

class FixedTokens : public source::TokenReader {
 public:
  explicit FixedTokens(std::vector<Tokens> chunks)
      : chunks_(std::move(chunks)) {}
  absl::StatusOr<Tokens> Next() override {
    return next_ == chunks_.size() ? Tokens() : chunks_[next_++];
  }

 private:
  const std::vector<Tokens> chunks_;
  size_t next_ = 0;
};

// A tokenizer without marks.
class Bare : public tokenizers::TextTokenizer {
 public:
  int vocabulary_size() const override { return 1; }
  absl::StatusOr<Tokens> Encode(std::string_view) const override {
    return Tokens{0};
  }
  std::string Decode(const Tokens&) const override { return ""; }
  const std::string& digest() const override { return digest_; }
  std::optional<int64_t> begin_token() const override { return {}; }
  std::optional<int64_t> end_token() const override { return {}; }

 private:
  const std::string digest_;
};

class ImportTest : public ::testing::Test {
 protected:
  ImportTest() {
    auto writer = StoreWriter::Create(files_, folder_.path(),
                                      {std::string(64, 'a'), 260});
    EXPECT_TRUE(writer.ok()) << writer.status();
    writer_ = *std::move(writer);
  }
  // The tokens of each document.
  std::vector<Tokens> Finish() {
    EXPECT_TRUE(writer_->Finish().ok());
    auto store = TokenStore::Open(files_, folder_.path());
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    std::vector<Tokens> documents;
    for (const auto& document : store_->documents()) {
      documents.push_back(
          store_->Read(document.begin, document.num_tokens).value());
    }
    return documents;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  std::unique_ptr<StoreWriter> writer_;
  std::unique_ptr<TokenStore> store_;
};

TEST_F(ImportTest, DocumentsBecomeTokensBetweenTheirMarks) {
  FixedDocuments documents({"a b", "c"});
  ASSERT_THAT(ImportDocuments(&documents, *tokenizers::MakeByteTokenizer(),
                              {true, true}, writer_.get()),
              IsOk());
  EXPECT_THAT(Finish(), ElementsAre(ElementsAre(2, 101, 36, 102, 3),
                                    ElementsAre(2, 103, 3)));
  EXPECT_EQ(store_->documents()[0].facts.num_words, 2);
  EXPECT_EQ(store_->documents()[0].facts.hash, FactsOfText("a b").hash);
}

TEST_F(ImportTest, MarksAreLeftOutUnlessAskedFor) {
  FixedDocuments documents({"a"});
  ASSERT_THAT(ImportDocuments(&documents, *tokenizers::MakeByteTokenizer(), {},
                              writer_.get()),
              IsOk());
  EXPECT_THAT(Finish(), ElementsAre(ElementsAre(101)));
}

TEST_F(ImportTest, AMarkThatTheTokenizerLacksIsRefused) {
  FixedDocuments documents({"a"});
  EXPECT_THAT(
      ImportDocuments(&documents, Bare(), {true, false}, writer_.get()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("begin: the")));
  EXPECT_THAT(
      ImportDocuments(&documents, Bare(), {false, true}, writer_.get()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("end: the")));
}

TEST_F(ImportTest, ADocumentThatCannotBeEncodedIsNamed) {
  FixedDocuments documents({"a", "b\xFF"});
  EXPECT_THAT(ImportDocuments(&documents, *tokenizers::MakeByteTokenizer(), {},
                              writer_.get()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("read a.txt, line 2: encode text: byte 1")));
}

TEST_F(ImportTest, ATokenEndsDocumentsOfAFlatFile) {
  FixedTokens tokens({{5, 6, 9, 7}, {8}, {9, 9, 4}});
  ASSERT_THAT(ImportTokens(&tokens, 9, writer_.get()), IsOk());
  EXPECT_THAT(Finish(), ElementsAre(ElementsAre(5, 6, 9), ElementsAre(7, 8, 9),
                                    ElementsAre(9), ElementsAre(4)));
}

TEST_F(ImportTest, AFlatFileWithoutEndsIsCutWhereItIsLong) {
  FixedTokens tokens({Tokens(kMaxDocumentTokens - 1, 1), {2, 3}});
  ASSERT_THAT(ImportTokens(&tokens, std::nullopt, writer_.get()), IsOk());
  const std::vector<Tokens> documents = Finish();
  ASSERT_EQ(documents.size(), 2);
  EXPECT_EQ(documents[0].size(), kMaxDocumentTokens);
  EXPECT_THAT(documents[1], ElementsAre(3));
}

}  // namespace
}  // namespace ordo::model::text::store
