#include "services/auth/visitor.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::auth {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using ordo::access::v1::Role;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Visitor Of(Role role) {
  Visitor visitor;
  visitor.owner.set_user("ada");
  visitor.role = role;
  visitor.known_by = "token ci";
  return visitor;
}

std::vector<std::string> RightsOf(const Visitor& visitor) {
  std::vector<std::string> rights;
  for (const Right right :
       {Right::kRead, Right::kSubmit, Right::kChangeOwn, Right::kAdminister,
        Right::kJoin, Right::kWorker, Right::kScheduler}) {
    if (visitor.Has(right)) rights.push_back(NameOf(right));
  }
  return rights;
}

ordo::jobs::v1::Owner Named(const std::string& user) {
  ordo::jobs::v1::Owner owner;
  owner.set_user(user);
  return owner;
}

TEST(VisitorTest, EachRoleHasItsRights) {
  EXPECT_THAT(RightsOf(Of(ordo::access::v1::ROLE_UNSPECIFIED)), IsEmpty());
  EXPECT_THAT(RightsOf(Of(ordo::access::v1::VIEWER)), ElementsAre("READ"));
  EXPECT_THAT(RightsOf(Of(ordo::access::v1::USER)),
              ElementsAre("READ", "SUBMIT", "CHANGE_OWN"));
  EXPECT_THAT(RightsOf(Of(ordo::access::v1::ADMIN)),
              ElementsAre("READ", "SUBMIT", "CHANGE_OWN", "ADMINISTER"));
  EXPECT_THAT(RightsOf(Of(ordo::access::v1::WORKER)),
              ElementsAre("JOIN", "WORKER"));
  EXPECT_TRUE(Of(ordo::access::v1::ROLE_UNSPECIFIED).Has(Right::kNobodyNeeded));
}

TEST(VisitorTest, AOneTimeTokenLetsAWorkerJoinAndNoMore) {
  Visitor visitor = Of(ordo::access::v1::WORKER);
  visitor.token = "node-7";
  EXPECT_THAT(RightsOf(visitor), ElementsAre("JOIN"));
}

TEST(VisitorTest, WhoIsBoundToQueuesSeesTheseAndAdministersNothing) {
  Visitor visitor = Of(ordo::access::v1::ADMIN);
  EXPECT_TRUE(visitor.MaySee("night"));
  visitor.queues = {"day"};
  EXPECT_TRUE(visitor.MaySee("day"));
  EXPECT_FALSE(visitor.MaySee("night"));
  EXPECT_FALSE(visitor.Has(Right::kAdminister));
  EXPECT_TRUE(visitor.Has(Right::kChangeOwn));
}

TEST(VisitorTest, UsersChangeTheirOwnAndAdministratorsAll) {
  const Visitor user = Of(ordo::access::v1::USER);
  EXPECT_THAT(user.MayChange(Named("ada"), "cancel jobs/a"), IsOk());
  EXPECT_THAT(
      user.MayChange(Named("bob"), "cancel jobs/a"),
      StatusIs(absl::StatusCode::kPermissionDenied,
               AllOf(HasSubstr("cancel jobs/a: it is of bob"),
                     HasSubstr("role user"), HasSubstr("--role admin"))));
  EXPECT_THAT(Of(ordo::access::v1::ADMIN).MayChange(Named("bob"), "cancel"),
              IsOk());
  EXPECT_THAT(Of(ordo::access::v1::VIEWER).MayChange(Named("ada"), "cancel"),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST(VisitorTest, ARefusalNamesTheRightAndWhoGivesIt) {
  EXPECT_THAT(
      Lacks(Of(ordo::access::v1::VIEWER), Right::kSubmit,
            "JobsService/CreateJob"),
      StatusIs(absl::StatusCode::kPermissionDenied,
               "JobsService/CreateJob needs the right SUBMIT (role user): ada, "
               "known by token ci, has the role viewer; an administrator gives "
               "it with: ordo admin token create NAME --role user"));
  EXPECT_THAT(Lacks(Visitor(), Right::kRead, "JobsService/GetJob"),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       AllOf(HasSubstr("the right READ (role viewer)"),
                             HasSubstr("ORDO_TOKEN_FILE"))));
}

}  // namespace
}  // namespace ordo::services::auth
