#include "model/text/task/token_stream.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/store/store_writer.h"

namespace ordo::model::text::task {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TokenStreamTest : public ::testing::Test {
 protected:
  void Write(const std::string& name,
             const std::vector<std::vector<int64_t>>& documents) {
    auto writer = store::StoreWriter::Create(files_, folder_.Path(name),
                                             {"tokenizer", 1000, 4});
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (const auto& tokens : documents) {
      ORDO_EXPECT_OK((*writer)->Add(
          tokens, store::FactsOfText(absl::StrCat("a b ", tokens[0]))));
    }
    ORDO_EXPECT_OK((*writer)->Finish());
    auto store = store::TokenStore::Open(files_, folder_.Path(name));
    ASSERT_TRUE(store.ok()) << store.status();
    stores_.push_back(*std::move(store));
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  std::vector<std::unique_ptr<store::TokenStore>> stores_;
};

TEST_F(TokenStreamTest, DocumentsOfAllStoresFollowEachOther) {
  Write("a", {{11, 12, 13}, {14, 15}});
  Write("b", {{16}, {17, 18, 19, 20}});
  const TokenStream stream(stores_, Split::kAll, {});
  EXPECT_EQ(stream.num_documents(), 4u);
  ASSERT_EQ(stream.num_tokens(), 10u);
  EXPECT_THAT(stream.Read(0, 10), IsOkAndHolds(ElementsAre(
                                      11, 12, 13, 14, 15, 16, 17, 18, 19, 20)));
  EXPECT_THAT(stream.Read(4, 3), IsOkAndHolds(ElementsAre(15, 16, 17)));
  EXPECT_THAT(stream.Read(9, 1), IsOkAndHolds(ElementsAre(20)));
  EXPECT_THAT(stream.Read(10, 0), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(stream.DocumentAt(2), 0u);
  EXPECT_EQ(stream.DocumentAt(3), 1u);
  EXPECT_EQ(stream.DocumentAt(9), 3u);
}

// "a b 11" of three tokens, "a b 14" of two and "a b 100" of one.
TEST_F(TokenStreamTest, PartsOfDocumentsHaveTheirShareOfTheText) {
  Write("a", {{11, 12, 13}, {14, 15}, {100}});
  const TokenStream stream(stores_, Split::kAll, {});
  const TextSize all = stream.SizeOf(0, 6);
  EXPECT_DOUBLE_EQ(all.bytes, 19);
  EXPECT_DOUBLE_EQ(all.words, 9);
  const TextSize part = stream.SizeOf(2, 2);
  EXPECT_DOUBLE_EQ(part.bytes, 6.0 / 3 + 6.0 / 2);
  EXPECT_DOUBLE_EQ(part.words, 3.0 / 3 + 3.0 / 2);
  EXPECT_DOUBLE_EQ(stream.SizeOf(5, 1).bytes, 7);
  EXPECT_DOUBLE_EQ(stream.SizeOf(6, 0).bytes, 0);
}

TEST_F(TokenStreamTest, ASplitHasItsDocumentsBytesAndWordsOnly) {
  std::vector<std::vector<int64_t>> documents;
  for (int64_t i = 0; i < 100; ++i) documents.push_back({100 + i, 1});
  Write("a", documents);
  const store::HeldOut held_out = {1, 300000};
  const TokenStream all(stores_, Split::kAll, held_out);
  const TokenStream held(stores_, Split::kHeldOut, held_out);
  const TokenStream trained(stores_, Split::kTrained, held_out);
  EXPECT_GT(held.num_documents(), 10u);
  EXPECT_GT(trained.num_documents(), 40u);
  EXPECT_EQ(held.num_documents() + trained.num_documents(), 100u);
  EXPECT_EQ(held.num_tokens(), 2 * held.num_documents());
  // "a b 100" and the like.
  EXPECT_EQ(held.num_bytes(), 7 * held.num_documents());
  EXPECT_EQ(held.num_words(), 3 * held.num_documents());
  EXPECT_EQ(all.num_bytes(), 700u);
}

}  // namespace
}  // namespace ordo::model::text::task
