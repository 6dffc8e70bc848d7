#include "model/text/tokenizers/bpe.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::tokenizers {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Ids are places in `tokens`.
BpeTable Table(const std::vector<std::string>& tokens,
               const std::vector<BpeTable::Merge>& merges) {
  BpeTable table;
  for (const std::string& bytes : tokens) {
    table.tokens.push_back({bytes, static_cast<int64_t>(table.tokens.size())});
  }
  table.merges = merges;
  return table;
}

absl::StatusOr<std::vector<int64_t>> Encode(const BpeTable& table,
                                            std::string_view piece) {
  const auto bpe = Bpe::Create(table);
  if (!bpe.ok()) return bpe.status();
  std::vector<int64_t> tokens;
  const absl::Status status = bpe->Encode(piece, &tokens);
  if (!status.ok()) return status;
  return tokens;
}

TEST(Bpe, JoinsTheFirstOfTheMergesFirst) {
  // "bc" stands before "ab": abc is a bc, although ab is further left.
  const BpeTable table =
      Table({"a", "b", "c", "bc", "ab"}, {{"b", "c"}, {"a", "b"}});
  EXPECT_THAT(Encode(table, "abc"), IsOkAndHolds(ElementsAre(0, 3)));
  EXPECT_THAT(Encode(table, "abab"), IsOkAndHolds(ElementsAre(4, 4)));
}

TEST(Bpe, JoinsWhatWasJoined) {
  const BpeTable table =
      Table({"h", "e", "l", "o", "he", "ll", "hell", "hello"},
            {{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}});
  EXPECT_THAT(Encode(table, "hello"), IsOkAndHolds(ElementsAre(7)));
  EXPECT_THAT(Encode(table, "helo"), IsOkAndHolds(ElementsAre(4, 2, 3)));
}

TEST(Bpe, TakesTheLeftmostOfEquals) {
  const BpeTable table = Table({"a", "aa"}, {{"a", "a"}});
  EXPECT_THAT(Encode(table, "aaaaa"), IsOkAndHolds(ElementsAre(1, 1, 0)));
}

TEST(Bpe, TakesAWholePieceAtOnceWhereMergesAreIgnored) {
  BpeTable table = Table({"a", "b", "c", "ab", "abc"}, {{"a", "b"}});
  EXPECT_THAT(Encode(table, "abc"), IsOkAndHolds(ElementsAre(3, 2)));
  table.ignore_merges = true;
  EXPECT_THAT(Encode(table, "abc"), IsOkAndHolds(ElementsAre(4)));
  EXPECT_THAT(Encode(table, "abca"), IsOkAndHolds(ElementsAre(3, 2, 0)));
}

// The definition, in as many steps as it takes.
std::vector<std::string> Plain(const BpeTable& table, std::string_view piece) {
  std::vector<std::string> parts;
  for (const char byte : piece) parts.emplace_back(1, byte);
  for (;;) {
    std::optional<size_t> best;
    size_t place = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      for (size_t rank = 0; rank < table.merges.size(); ++rank) {
        if (table.merges[rank].left == parts[i] &&
            table.merges[rank].right == parts[i + 1] &&
            rank < best.value_or(table.merges.size())) {
          best = rank;
          place = i;
        }
      }
    }
    if (!best.has_value()) return parts;
    parts[place] += parts[place + 1];
    parts.erase(parts.begin() + static_cast<int64_t>(place) + 1);
  }
}

TEST(Bpe, IsTheDefinitionOnRandomTables) {
  base::RandomSequence random(7, "test");
  for (int round = 0; round < 200; ++round) {
    BpeTable table = Table({"a", "b", "c"}, {});
    std::map<std::string, int64_t> ids = {{"a", 0}, {"b", 1}, {"c", 2}};
    for (int tries = 0; tries < 12; ++tries) {
      const auto& left = table.tokens[random.Int(table.tokens.size())].bytes;
      const auto& right = table.tokens[random.Int(table.tokens.size())].bytes;
      const BpeTable::Merge merge = {left, right};
      const auto id = static_cast<int64_t>(table.tokens.size());
      if (!ids.emplace(left + right, id).second) continue;
      table.tokens.push_back({merge.left + merge.right, id});
      table.merges.push_back(merge);
    }
    std::string piece;
    for (int i = 0; i < 40; ++i) {
      piece.push_back(static_cast<char>('a' + random.Int(3)));
    }
    std::vector<int64_t> expected;
    for (const std::string& part : Plain(table, piece)) {
      expected.push_back(ids.at(part));
    }
    ASSERT_THAT(Encode(table, piece), IsOkAndHolds(expected)) << round;
  }
}

TEST(Bpe, ALongPieceTakesNoSquareOfSteps) {
  const BpeTable table = Table({"a", "aa", "aaaa"}, {{"a", "a"}, {"aa", "aa"}});
  const auto tokens = Encode(table, std::string(200000, 'a'));
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(*tokens, std::vector<int64_t>(50000, 2));
}

TEST(Bpe, PartsThatNoMergeSpansAreJoinedByThemselves) {
  // "ab" and "ba" are no tokens, so no run of them is long.
  const BpeTable table =
      Table({"a", "b", "aa", "bb"}, {{"a", "a"}, {"b", "b"}});
  EXPECT_THAT(Encode(table, "aabaabb"), IsOkAndHolds(ElementsAre(2, 1, 2, 3)));
  std::string piece = "aa";
  while (piece.size() <= kMaxPartBytes) piece += "ba";
  const auto tokens = Encode(table, piece);
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->size(), piece.size() - 1);
}

TEST(Bpe, RefusesMoreThanItCanJoinAtOnce) {
  const BpeTable table = Table({"a", "aa"}, {{"a", "a"}});
  EXPECT_THAT(Encode(table, std::string(kMaxPartBytes + 1, 'a')),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("4194305 bytes that begin with 'aaaa")));
}

TEST(Bpe, NamesTheMergeThatDoesNotFitTheVocabulary) {
  EXPECT_THAT(Encode(Table({"a", "b"}, {{"a", "b"}}), "a"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("merge 0: 'ab' is not in the vocabulary")));
  EXPECT_THAT(
      Encode(Table({"a", "aa"}, {{"a", "a"}, {"a", "a"}}), "a"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("merge 1 is")));
  EXPECT_THAT(
      Encode(Table({"a", "a"}, {}), "a"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("token 1 ('a'")));
}

TEST(Bpe, NamesAByteWithoutToken) {
  EXPECT_THAT(Encode(Table({"a"}, {}), "a\x09"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no token for byte 0x09")));
}

}  // namespace
}  // namespace ordo::model::text::tokenizers
