#include "model/text/rows/packing.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/store/store_writer.h"

namespace ordo::model::text::rows {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Documents of 3, 1, 6 and 4 tokens: 10 11 12, 20, 30 ... 35, 40 ... 43.
class PackingTest : public ::testing::Test {
 protected:
  PackingTest() {
    auto writer =
        store::StoreWriter::Create(files_, folder_.path(), {"", 100, 4});
    EXPECT_TRUE(writer.ok());
    const int lengths[] = {3, 1, 6, 4};
    for (int64_t i = 0; i < 4; ++i) {
      std::vector<int64_t> tokens;
      for (int k = 0; k < lengths[i]; ++k) tokens.push_back(10 * (i + 1) + k);
      EXPECT_TRUE((*writer)->Add(tokens, store::FactsOfTokens(tokens)).ok());
    }
    EXPECT_TRUE((*writer)->Finish().ok());
    auto store = store::TokenStore::Open(files_, folder_.path());
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  Packing Pack(const PackingOptions& options,
               const std::vector<uint64_t>& documents = {0, 1, 2, 3}) {
    auto packing = Packing::Create(store_.get(), documents, options);
    EXPECT_TRUE(packing.ok()) << packing.status();
    return *std::move(packing);
  }
  static PackedRow Row(const Packing& packing, uint64_t row) {
    auto read = packing.Read(row);
    EXPECT_TRUE(read.ok()) << read.status();
    return *std::move(read);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  std::unique_ptr<store::TokenStore> store_;
};

TEST_F(PackingTest, CutsWhatLiesOneBehindTheOther) {
  const Packing packing = Pack({5});
  ASSERT_EQ(packing.num_rows(), 2);
  EXPECT_THAT(Row(packing, 0).tokens, ElementsAre(10, 11, 12, 20, 30));
  EXPECT_THAT(Row(packing, 1).tokens, ElementsAre(31, 32, 33, 34, 35));
  EXPECT_THAT(Row(packing, 0).scored, ElementsAre(0, 1, 1, 1, 1));
  EXPECT_THAT(Row(packing, 0).starts, IsEmpty());
}

TEST_F(PackingTest, SaysWhereDocumentsBeginAndDoesNotScoreThem) {
  const Packing packing = Pack({5, true});
  const PackedRow first = Row(packing, 0);
  EXPECT_THAT(first.tokens, ElementsAre(10, 11, 12, 20, 30));
  EXPECT_THAT(first.starts, ElementsAre(0, 3, 4));
  EXPECT_THAT(first.scored, ElementsAre(0, 1, 1, 0, 0));
  const PackedRow second = Row(packing, 1);
  EXPECT_THAT(second.starts, ElementsAre(0));
  EXPECT_THAT(second.scored, ElementsAre(0, 1, 1, 1, 1));
}

TEST_F(PackingTest, PacksInTheOrderThatIsAsked) {
  const Packing packing = Pack({4, true}, {3, 0, 1});
  ASSERT_EQ(packing.num_rows(), 2);
  EXPECT_THAT(Row(packing, 0).tokens, ElementsAre(40, 41, 42, 43));
  EXPECT_THAT(Row(packing, 1).tokens, ElementsAre(10, 11, 12, 20));
  EXPECT_THAT(Row(packing, 1).starts, ElementsAre(0, 3));
}

TEST_F(PackingTest, LeavesOutTheRestOfEachGroup) {
  // Groups of 4 and 10 tokens.
  const Packing packing = Pack({3, false, 2});
  ASSERT_EQ(packing.num_rows(), 4);
  EXPECT_THAT(Row(packing, 0).tokens, ElementsAre(10, 11, 12));
  EXPECT_THAT(Row(packing, 1).tokens, ElementsAre(30, 31, 32));
  EXPECT_THAT(Row(packing, 3).tokens, ElementsAre(40, 41, 42));
}

TEST_F(PackingTest, AGroupMayBeTooSmallForARow) {
  const Packing packing = Pack({4, false, 1});
  ASSERT_EQ(packing.num_rows(), 2);
  EXPECT_THAT(Row(packing, 0).tokens, ElementsAre(30, 31, 32, 33));
  EXPECT_THAT(Row(packing, 1).tokens, ElementsAre(40, 41, 42, 43));
}

TEST_F(PackingTest, MayBeEmpty) {
  EXPECT_EQ(Pack({15}).num_rows(), 0);
  EXPECT_EQ(Pack({5}, {}).num_rows(), 0);
}

TEST_F(PackingTest, RefusesRowsThatPredictNothing) {
  EXPECT_THAT(Packing::Create(store_.get(), {}, {1}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("row_length: must be 2")));
}

TEST_F(PackingTest, DocumentsAreHeldOutOrNot) {
  const store::HeldOut half = {1, 500000};
  const auto held_out = DocumentsOf(*store_, half, true);
  const auto others = DocumentsOf(*store_, half, false);
  EXPECT_EQ(held_out.size() + others.size(), 4);
  for (const uint64_t document : held_out) {
    EXPECT_TRUE(store::IsHeldOut(half, store_->documents()[document].facts));
  }
  EXPECT_THAT(DocumentsOf(*store_, {}, false), ElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace ordo::model::text::rows
