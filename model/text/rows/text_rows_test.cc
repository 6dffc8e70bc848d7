#include "model/text/rows/text_rows.h"

#include <map>
#include <memory>
#include <set>

#include "absl/status/status.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/text/store/store_writer.h"

namespace ordo::model::text::rows {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

class TextRowsTest : public ::testing::Test {
 protected:
  // A store of documents of ten tokens: of document i all are first + i.
  const store::TokenStore* Write(const std::string& name, int64_t first,
                                 const std::string& tokenizer = "t") {
    auto writer = store::StoreWriter::Create(files_, folder_.Path(name),
                                             {tokenizer, 1000, 64});
    EXPECT_TRUE(writer.ok()) << writer.status();
    for (int64_t i = 0; i < 40; ++i) {
      const std::vector<int64_t> tokens(10, first + i);
      EXPECT_TRUE((*writer)->Add(tokens, store::FactsOfTokens(tokens)).ok());
    }
    EXPECT_TRUE((*writer)->Finish().ok());
    auto store = store::TokenStore::Open(files_, folder_.Path(name));
    EXPECT_TRUE(store.ok()) << store.status();
    stores_.push_back(*std::move(store));
    return stores_.back().get();
  }
  static std::vector<int64_t> Tokens(const TextRows& rows, uint64_t index,
                                     uint64_t seed = 1) {
    auto row = rows.Read(seed, index);
    EXPECT_TRUE(row.ok()) << row.status();
    return row->tokens;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  std::vector<std::unique_ptr<store::TokenStore>> stores_;
};

TEST_F(TextRowsTest, AnEpochHasEachTokenOnce) {
  const auto rows = TextRows::Create({{"a", 1, Write("a", 100)}}, {10}, {});
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::map<int64_t, int> counts;
  for (uint64_t index = 0; index < 40; ++index) {
    for (const int64_t token : Tokens(*rows, index)) ++counts[token];
  }
  EXPECT_EQ(counts.size(), 40);
  for (const auto& [token, count] : counts) EXPECT_EQ(count, 10) << token;
}

TEST_F(TextRowsTest, ARunThatGoesOnReadsWhatOneThatNeverStoppedDoes) {
  const std::vector<WeightedStore> stores = {{"a", 3, Write("a", 100)},
                                             {"b", 1, Write("b", 500)}};
  const auto whole = TextRows::Create(stores, {7, true}, {1, 100000});
  ASSERT_TRUE(whole.ok()) << whole.status();
  std::vector<std::vector<int64_t>> read;
  for (uint64_t index = 0; index < 300; ++index) {
    read.push_back(Tokens(*whole, index));
  }
  const auto resumed = TextRows::Create(stores, {7, true}, {1, 100000});
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  for (uint64_t index = 299; index >= 137; --index) {
    EXPECT_EQ(Tokens(*resumed, index), read[index]) << index;
  }
  EXPECT_NE(Tokens(*resumed, 137, 2), read[137]);
}

TEST_F(TextRowsTest, WhatIsHeldOutIsNeverRead) {
  const store::TokenStore* store = Write("a", 100);
  const store::HeldOut held_out = {1, 300000};
  std::set<int64_t> hidden;
  for (const uint64_t document : DocumentsOf(*store, held_out, true)) {
    hidden.insert(100 + static_cast<int64_t>(document));
  }
  ASSERT_GT(hidden.size(), 2);
  const auto rows = TextRows::Create({{"a", 1, store}}, {5}, held_out);
  ASSERT_TRUE(rows.ok()) << rows.status();
  for (uint64_t index = 0; index < 200; ++index) {
    for (const int64_t token : Tokens(*rows, index)) {
      EXPECT_EQ(hidden.count(token), 0) << token;
    }
  }
}

TEST_F(TextRowsTest, RefusesStoresOfDifferentTokenizers) {
  EXPECT_THAT(
      TextRows::Create(
          {{"a", 1, Write("a", 100)}, {"b", 1, Write("b", 100, "u")}}, {10}, {})
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("sources[1]: is of the tokenizer with")));
}

TEST_F(TextRowsTest, RefusesAStoreThatIsTooSmallForARow) {
  EXPECT_THAT(TextRows::Create({{"a", 1, Write("a", 100)}}, {401}, {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("sources[0]: has no row")));
}

}  // namespace
}  // namespace ordo::model::text::rows
