#include "scheduler/server/registry_view.h"

#include <optional>
#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::server {
namespace {

using base::testing::StatusIs;
using checkpoints::v1::Alias;
using checkpoints::v1::Checkpoint;
using core::Row;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RegistryViewTest : public ::testing::Test {
 protected:
  void Put(const std::string& id, const std::string& checkpoint,
           bool deleted = false) {
    Alias alias;
    alias.set_name("aliases/" + id);
    alias.set_checkpoint(checkpoint);
    if (deleted) alias.mutable_delete_time()->set_seconds(1);
    view_.Put({Row::Kind::kAlias, id, alias.SerializeAsString()});
  }
  Checkpoint Shown(const std::string& name) {
    Checkpoint checkpoint;
    checkpoint.set_name(name);
    view_.ShowNames(&checkpoint);
    return checkpoint;
  }

  RegistryView view_;
};

TEST_F(RegistryViewTest, ACheckpointHasTheAliasesThatNameItNow) {
  Put("b", "x");
  Put("a", "x");
  Put("c", "y");
  EXPECT_THAT(Shown("x").aliases(), ElementsAre("aliases/a", "aliases/b"));
  Put("a", "y");
  EXPECT_THAT(Shown("x").aliases(), ElementsAre("aliases/b"));
  EXPECT_THAT(Shown("y").aliases(), ElementsAre("aliases/a", "aliases/c"));
  Put("b", "x", /*deleted=*/true);
  EXPECT_THAT(Shown("x").aliases(), IsEmpty());
  EXPECT_THAT(view_.Get("b"), StatusIs(absl::StatusCode::kNotFound));
  view_.Put({Row::Kind::kAlias, "b", std::nullopt});
  Put("b", "x");
  EXPECT_THAT(Shown("x").aliases(), ElementsAre("aliases/b"));
}

TEST_F(RegistryViewTest, ACheckpointHasItsPinUntilThatIsTakenBack) {
  audit::v1::Change pin;
  pin.set_user("ada");
  view_.Put({Row::Kind::kPin, "x", pin.SerializeAsString()});
  EXPECT_EQ(Shown("x").pin().user(), "ada");
  EXPECT_FALSE(Shown("y").has_pin());
  view_.Put({Row::Kind::kPin, "x", std::nullopt});
  EXPECT_FALSE(Shown("x").has_pin());
}

TEST_F(RegistryViewTest, AliasesAreListedByName) {
  for (const char* id : {"c", "a", "b"}) Put(id, "x");
  Put("d", "x", /*deleted=*/true);
  const Listing<Alias> first = view_.List({"", 2});
  ASSERT_EQ(first.items.size(), 2u);
  EXPECT_EQ(first.items[0].name(), "aliases/a");
  EXPECT_EQ(first.next, "aliases/b");
  const Listing<Alias> rest = view_.List({first.next, 2});
  ASSERT_EQ(rest.items.size(), 1u);
  EXPECT_EQ(rest.items[0].name(), "aliases/c");
  EXPECT_EQ(rest.next, "");
}

}  // namespace
}  // namespace ordo::scheduler::server
