#include "model/text/store/token_store.h"

#include <utility>

#include "absl/status/status.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/store/store_writer.h"

namespace ordo::model::text::store {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Four documents in shards of four tokens and more: two, one, and one.
class TokenStoreTest : public ::testing::Test {
 protected:
  StoreIndex Write(int64_t vocabulary_size = 100) {
    auto writer = StoreWriter::Create(
        files_, Folder(), {std::string(64, 'a'), vocabulary_size, 4});
    EXPECT_TRUE(writer.ok()) << writer.status();
    EXPECT_THAT((*writer)->Add({1, 2, 3}, FactsOfText("one two three")),
                IsOk());
    EXPECT_THAT((*writer)->Add({4}, FactsOfText("four")), IsOk());
    EXPECT_THAT((*writer)->Add({}, FactsOfText("")), IsOk());
    EXPECT_THAT((*writer)->Add({5, 6, 7, 8, 9}, {}), IsOk());
    EXPECT_THAT((*writer)->Add({99}, {}), IsOk());
    auto index = (*writer)->Finish();
    EXPECT_TRUE(index.ok()) << index.status();
    return *std::move(index);
  }
  absl::StatusOr<std::unique_ptr<TokenStore>> Open() {
    return TokenStore::Open(files_, Folder());
  }
  std::string Folder() const { return folder_.Path("store"); }
  // Turns a bit of a file.
  void Damage(const std::string& name, size_t at) {
    const std::string path = base::JoinPath(Folder(), name);
    auto bytes = base::ReadFile(files_, path, 1000);
    ASSERT_TRUE(bytes.ok());
    (*bytes)[at] ^= 1;
    ASSERT_TRUE(base::ReplaceFile(files_, path, *bytes).ok());
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(TokenStoreTest, GivesWhatWasWritten) {
  const StoreIndex index = Write();
  EXPECT_EQ(index.shards.size(), 3);
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->num_tokens(), 10);
  EXPECT_EQ((*store)->fingerprint(), Fingerprint(index));
  EXPECT_THAT((*store)->Read(0, 10),
              IsOkAndHolds(ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 99)));
  EXPECT_THAT((*store)->Verify(), IsOk());
}

TEST_F(TokenStoreTest, ReadsAcrossShards) {
  Write();
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT((*store)->Read(3, 2), IsOkAndHolds(ElementsAre(4, 5)));
  EXPECT_THAT((*store)->Read(4, 1), IsOkAndHolds(ElementsAre(5)));
  EXPECT_THAT((*store)->Read(9, 1), IsOkAndHolds(ElementsAre(99)));
  EXPECT_THAT((*store)->Read(10, 0), IsOkAndHolds(IsEmpty()));
}

TEST_F(TokenStoreTest, KnowsItsDocuments) {
  Write();
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  const auto& documents = (*store)->documents();
  ASSERT_EQ(documents.size(), 4);
  EXPECT_EQ(documents[1].begin, 3);
  EXPECT_EQ(documents[1].num_tokens, 1);
  EXPECT_EQ(documents[0].facts.num_words, 3);
  EXPECT_EQ(documents[0].facts.hash, FactsOfText("one two three").hash);
  EXPECT_EQ(documents[3].begin, 9);
}

TEST_F(TokenStoreTest, LargeVocabulariesHaveWideTokens) {
  Write(1 << 20);
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->index().type, source::TokenType::kUint32);
  EXPECT_THAT((*store)->Read(8, 2), IsOkAndHolds(ElementsAre(9, 99)));
}

TEST_F(TokenStoreTest, TheSameDocumentsHaveTheSameFingerprint) {
  const std::string first = Fingerprint(Write());
  ASSERT_TRUE(files_.RemoveTree(Folder()).ok());
  EXPECT_EQ(Fingerprint(Write()), first);
}

TEST_F(TokenStoreTest, IsNoneBeforeItIsFinished) {
  auto writer =
      StoreWriter::Create(files_, Folder(), {std::string(64, 'a'), 100, 4});
  ASSERT_TRUE(writer.ok());
  EXPECT_THAT((*writer)->Add({1, 2, 3, 4, 5}, {}), IsOk());
  EXPECT_THAT(Open().status(), StatusIs(absl::StatusCode::kNotFound));
  // Another writer begins anew.
  writer->reset();
  Write();
  EXPECT_THAT(Open().status(), IsOk());
}

TEST_F(TokenStoreTest, IsNotOverwritten) {
  Write();
  EXPECT_THAT(
      StoreWriter::Create(files_, Folder(), {std::string(64, 'a'), 100, 4})
          .status(),
      StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("there is one")));
}

TEST_F(TokenStoreTest, RefusesTokensOutsideOfTheVocabulary) {
  auto writer =
      StoreWriter::Create(files_, Folder(), {std::string(64, 'a'), 100, 4});
  ASSERT_TRUE(writer.ok());
  EXPECT_THAT((*writer)->Add({1, 100}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("token 100 is outside")));
  EXPECT_THAT((*writer)->Add({-1}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(TokenStoreTest, MayBeEmpty) {
  auto writer =
      StoreWriter::Create(files_, Folder(), {std::string(64, 'a'), 100, 4});
  ASSERT_TRUE(writer.ok());
  ASSERT_THAT((*writer)->Finish().status(), IsOk());
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->num_tokens(), 0);
}

TEST_F(TokenStoreTest, VerifySeesATokenThatChanged) {
  Write();
  Damage("shard-00001.tokens", 2);
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT((*store)->Verify(),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("shard-00001.tokens: it is not")));
}

TEST_F(TokenStoreTest, ReadSeesATokenThatIsNone) {
  Write();
  Damage("shard-00001.tokens", 3);  // 6 becomes 262.
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT((*store)->Read(0, 10),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("shard-00001.tokens: the token at byte 2 is "
                                 "262, none of the vocabulary of 100")));
  EXPECT_THAT((*store)->Read(0, 5), IsOk());
}

TEST_F(TokenStoreTest, ReadSeesAFileThatHasBecomeShorter) {
  Write();
  const auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE(
      files_.Truncate(base::JoinPath(Folder(), "shard-00001.tokens"), 6).ok());
  EXPECT_THAT((*store)->Read(0, 7), IsOk());
  EXPECT_THAT((*store)->Read(0, 8),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("shard-00001.tokens: it has become shorter: "
                                 "it ends at byte 6")));
}

TEST_F(TokenStoreTest, OpenSeesRecordsAndLengthsThatChanged) {
  Write();
  Damage("shard-00000.documents", 0);
  EXPECT_THAT(Open().status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("shard-00000.documents: it is not")));
  Damage("shard-00000.documents", 0);
  ASSERT_TRUE(
      files_.Truncate(base::JoinPath(Folder(), "shard-00002.tokens"), 1).ok());
  EXPECT_THAT(Open().status(), StatusIs(absl::StatusCode::kDataLoss,
                                        HasSubstr("another length")));
}

TEST_F(TokenStoreTest, OpenSeesRecordsOfAnotherLength) {
  Write();
  const std::string path = base::JoinPath(Folder(), "shard-00000.documents");
  const std::string records =
      base::ReadFile(files_, path, 1 << 20).value_or("");
  for (const std::string& other : {records + "x", records.substr(1)}) {
    ORDO_ASSERT_OK(base::AtomicWrite(files_, path, other));
    EXPECT_THAT(Open().status(), StatusIs(absl::StatusCode::kDataLoss,
                                          HasSubstr("its index says")));
  }
}

TEST_F(TokenStoreTest, OpenSeesAnIndexThatDoesNotFitItsRecords) {
  // With digests of their own: what a stranger may send.
  StoreIndex index = Write();
  const std::pair<uint64_t, const char*> cases[] = {
      {3, "shard-00000.documents: the document at byte 32 has 1 tokens, and 0"},
      {5, "shard-00000.documents: its documents have 4 of the 5 tokens"},
      {uint64_t{1} << 63, "index.json: shard 0 has 2 documents and 922"},
  };
  for (const auto& [num_tokens, message] : cases) {
    index.shards[0].num_tokens = num_tokens;
    ASSERT_TRUE(base::ReplaceFile(files_, base::JoinPath(Folder(), kIndexName),
                                  IndexText(index))
                    .ok());
    EXPECT_THAT(Open().status(),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message)));
  }
  index.shards[0].num_tokens = 4;
  index.shards[0].num_documents = 3;
  ASSERT_TRUE(base::ReplaceFile(files_, base::JoinPath(Folder(), kIndexName),
                                IndexText(index))
                  .ok());
  EXPECT_THAT(Open().status(), StatusIs(absl::StatusCode::kDataLoss));
}

// Lengths of documents, and how many documents a shard of four tokens says it
// has; what a stranger may send.
struct Strange {
  std::vector<uint64_t> lengths;
  uint64_t num_documents = 0;
  const char* message = "";
};

TEST_F(TokenStoreTest, OpenSeesCountsThatNoShardHas) {
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  const Strange cases[] = {
      {{kHalf, kHalf, 4}, 3, "documents: the document at byte 0 has 922"},
      {{2, kHalf, kHalf, 2}, 4, "documents: the document at byte 32 has 922"},
      {{4, 0}, 2, "documents: the document at byte 32 has 0 tokens"},
      {{0, 4}, 2, "documents: the document at byte 0 has 0 tokens"},
      {{4}, (uint64_t{1} << 59) + 1, "index.json: shard 0 has 576"},
  };
  StoreIndex index = Write();
  index.shards.resize(1);
  for (const Strange& strange : cases) {
    std::string records;
    for (const uint64_t length : strange.lengths) {
      AppendRecord({length, {}}, &records);
    }
    index.shards[0].num_documents = strange.num_documents;
    index.shards[0].documents_sha256 = base::Sha256Hex(records);
    for (const auto& [name, text] :
         {std::make_pair(DocumentsName(0), records),
          std::make_pair(std::string(kIndexName), IndexText(index))}) {
      ASSERT_TRUE(
          base::ReplaceFile(files_, base::JoinPath(Folder(), name), text).ok());
    }
    EXPECT_THAT(Open().status(), StatusIs(absl::StatusCode::kDataLoss,
                                          HasSubstr(strange.message)));
  }
}

TEST_F(TokenStoreTest, OpenSeesAnIndexThatChanged) {
  Write();
  Damage("index.json", 40);
  EXPECT_THAT(Open().status(), StatusIs(absl::StatusCode::kDataLoss,
                                        HasSubstr("store/index.json: ")));
}

}  // namespace
}  // namespace ordo::model::text::store
