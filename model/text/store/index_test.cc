#include "model/text/store/index.h"

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::store {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

StoreIndex Small() {
  StoreIndex index;
  index.tokenizer_sha256 = std::string(64, 'a');
  index.vocabulary_size = 70000;
  index.type = source::TokenType::kUint32;
  index.shards = {{10, 2, "t0", "d0"}, {5, 1, "t1", "d1"}};
  return index;
}

TEST(StoreIndex, ComesBackFromItsText) {
  const auto index = ParseIndex(IndexText(Small()));
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(IndexText(*index), IndexText(Small()));
  EXPECT_EQ(index->num_tokens(), 15);
  EXPECT_EQ(index->num_documents(), 3);
  EXPECT_EQ(index->vocabulary_size, 70000);
}

TEST(StoreIndex, TheFingerprintDependsOnAllOfIt) {
  const std::string whole = Fingerprint(Small());
  StoreIndex other = Small();
  other.tokenizer_sha256[0] = 'b';
  EXPECT_NE(Fingerprint(other), whole);
  other = Small();
  other.shards[1].tokens_sha256 = "t2";
  EXPECT_NE(Fingerprint(other), whole);
  other = Small();
  other.shards[0].documents_sha256 = "d2";
  EXPECT_NE(Fingerprint(other), whole);
  other = Small();
  std::swap(other.shards[0], other.shards[1]);
  EXPECT_NE(Fingerprint(other), whole);
}

TEST(StoreIndex, SeesThatItWasChanged) {
  std::string text = IndexText(Small());
  text.replace(text.find("70000"), 5, "70001");
  EXPECT_THAT(ParseIndex(text).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("fingerprint")));
  EXPECT_THAT(ParseIndex("{").status(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(StoreIndex, RefusesAnotherVersion) {
  std::string text = IndexText(Small());
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 2");
  EXPECT_THAT(ParseIndex(text).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("version 2")));
}

TEST(StoreIndex, RefusesAVocabularyThatNoStoreHas) {
  // With fingerprints of their own: what a stranger may send.
  for (const int64_t size :
       {int64_t{0}, kMaxVocabularySize + 1, int64_t{65536}}) {
    StoreIndex index = Small();
    index.vocabulary_size = size;
    EXPECT_THAT(
        ParseIndex(IndexText(index)).status(),
        StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has a vocabulary of")))
        << size;
  }
}

TEST(DocumentRecord, IsLittleEndianAndComesBack) {
  std::string bytes;
  AppendRecord({1, {2, 3, 0x0102030405060708}}, &bytes);
  ASSERT_EQ(bytes.size(), kRecordBytes);
  EXPECT_EQ(bytes.substr(24), "\x08\x07\x06\x05\x04\x03\x02\x01");
  const DocumentRecord record = ParseRecord(bytes);
  EXPECT_EQ(record.num_tokens, 1);
  EXPECT_EQ(record.facts.num_bytes, 2);
  EXPECT_EQ(record.facts.num_words, 3);
  EXPECT_EQ(record.facts.hash, 0x0102030405060708);
}

TEST(ShardNames, SortAsTheirNumbers) {
  EXPECT_EQ(TokensName(7), "shard-00007.tokens");
  EXPECT_EQ(DocumentsName(12345), "shard-12345.documents");
}

}  // namespace
}  // namespace ordo::model::text::store
