#include "scheduler/core/changes.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using Changes = google::protobuf::RepeatedPtrField<audit::v1::Change>;

Author Ada(const std::string& reason) {
  Author author;
  author.owner.set_user("ada");
  author.owner.set_verified(true);
  author.reason = reason;
  return author;
}

TEST(ChangesTest, ChangeSaysWhoWhenWhatAndWhy) {
  Changes changes;
  AddChange("cordon", Ada("new disks"), absl::FromUnixSeconds(7), &changes);
  ASSERT_EQ(changes.size(), 1);
  EXPECT_EQ(changes[0].user(), "ada");
  EXPECT_TRUE(changes[0].verified());
  EXPECT_EQ(changes[0].time().seconds(), 7);
  EXPECT_EQ(changes[0].action(), "cordon");
  EXPECT_EQ(changes[0].reason(), "new disks");
}

TEST(ChangesTest, OldestGoesFirst) {
  Changes changes;
  for (int i = 0; i <= kMaxChanges; ++i) {
    AddChange(absl::StrCat(i), Ada(""), absl::UnixEpoch(), &changes);
  }
  ASSERT_EQ(changes.size(), kMaxChanges);
  EXPECT_EQ(changes[0].action(), "1");
  EXPECT_EQ(changes[kMaxChanges - 1].action(), absl::StrCat(kMaxChanges));
}

TEST(ChangesTest, LongActionIsCutBetweenCharacters) {
  Changes changes;
  std::string action = "x";
  while (action.size() <= kMaxActionBytes) action += "\xc3\xa4";
  AddChange(action, Ada(""), absl::UnixEpoch(), &changes);
  const std::string& kept = changes[0].action();
  EXPECT_LE(kept.size(), kMaxActionBytes);
  EXPECT_EQ(kept.substr(kept.size() - 6), "\xc3\xa4 ...");
}

}  // namespace
}  // namespace ordo::scheduler::core
