#include "services/request/page.h"

#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "google/protobuf/repeated_field.h"
#include "gtest/gtest.h"
#include "proto/ordo/queues/v1/queues.pb.h"

namespace ordo::services::request {
namespace {

using base::testing::StatusIs;
using google::protobuf::RepeatedPtrField;
using ordo::queues::v1::Queue;
using scheduler::Listing;

const ListKey kKey = {"ListJobs", "state = RUNNING"};

std::string FieldOf(const absl::Status& status) {
  const auto violations = base::FieldViolations(status);
  return violations.size() == 1 ? violations[0].field : "";
}

int SizeFor(int32_t page_size) { return ParsePage(kKey, page_size, "")->size; }

TEST(PageTest, SizeZeroIsTheDefaultAndLargeOnesAreCut) {
  EXPECT_EQ(SizeFor(0), kDefaultPageSize);
  EXPECT_EQ(SizeFor(1), 1);
  EXPECT_EQ(SizeFor(kMaxPageSize), kMaxPageSize);
  EXPECT_EQ(SizeFor(kMaxPageSize + 1), kMaxPageSize);
}

TEST(PageTest, NegativeSizeIsRefused) {
  const auto page = ParsePage(kKey, -1, "");
  EXPECT_THAT(page, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(FieldOf(page.status()), "page_size");
}

TEST(PageTest, TokenGivesBackWhereThePageEnded) {
  const auto page = ParsePage(kKey, 0, MakePageToken(kKey, "jobs/a/b/1-1"));
  ORDO_ASSERT_OK(page);
  EXPECT_EQ(page->before, "jobs/a/b/1-1");
}

TEST(PageTest, LastPageHasNoToken) { EXPECT_EQ(MakePageToken(kKey, ""), ""); }

TEST(PageTest, TokenOfAnotherListingIsRefused) {
  const std::string token = MakePageToken(kKey, "17");
  for (const ListKey& other :
       {ListKey{"ListJobs", "state = QUEUED"}, ListKey{"ListReports", ""},
        ListKey{"ListJobsstate", " = RUNNING"}}) {
    const auto page = ParsePage(other, 0, token);
    EXPECT_THAT(page, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ(FieldOf(page.status()), "page_token");
  }
}

TEST(PageTest, DamagedTokensAreRefused) {
  const std::string token = MakePageToken(kKey, "17");
  for (const std::string& bad :
       {std::string("x"), std::string("17"), token.substr(1), token + "AAAA",
        std::string(5000, 'A'), std::string("\0\xff", 2)}) {
    EXPECT_THAT(ParsePage(kKey, 0, bad),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

Queue QueueOf(const std::string& id, size_t num_bytes) {
  Queue queue;
  queue.set_name("queues/" + id);
  queue.add_changes()->set_reason(std::string(num_bytes, 'r'));
  return queue;
}

TEST(PageTest, ListingThatFitsFillsOnePage) {
  RepeatedPtrField<Queue> items;
  EXPECT_EQ(
      FillPage(kKey, Listing<Queue>{{QueueOf("a", 9), QueueOf("b", 9)}, ""},
               &items),
      "");
  ASSERT_EQ(items.size(), 2);
  EXPECT_EQ(items[1].name(), "queues/b");
  items.Clear();
  const Listing<Queue> more{{QueueOf("a", 9)}, "queues/a"};
  EXPECT_EQ(FillPage(kKey, more, &items), MakePageToken(kKey, "queues/a"));
}

TEST(PageTest, PageEndsBeforeTheItemThatItsMessageDoesNotHold) {
  RepeatedPtrField<Queue> items;
  const size_t third = kMaxPageBytes / 3;
  const Listing<Queue> listing{
      {QueueOf("a", third), QueueOf("b", third), QueueOf("c", third)},
      "queues/c"};
  EXPECT_EQ(FillPage(kKey, listing, &items), MakePageToken(kKey, "queues/b"));
  EXPECT_EQ(items.size(), 2);
}

TEST(PageTest, ItemThatIsTooLargeIsAPageAlone) {
  RepeatedPtrField<Queue> items;
  const Listing<Queue> listing{{QueueOf("a", kMaxPageBytes), QueueOf("b", 9)},
                               ""};
  EXPECT_EQ(FillPage(kKey, listing, &items), MakePageToken(kKey, "queues/a"));
  EXPECT_EQ(items.size(), 1);
}

TEST(PageTest, PageOfJobsEndsAtTheSequenceOfItsLast) {
  ordo::jobs::v1::Job first;
  first.set_name("jobs/a");
  first.set_sequence(17);
  first.set_message(std::string(kMaxPageBytes, 'm'));
  RepeatedPtrField<ordo::jobs::v1::Job> items;
  const Listing<ordo::jobs::v1::Job> listing{{first, first}, ""};
  EXPECT_EQ(FillPage(kKey, listing, &items), MakePageToken(kKey, "17"));
}

}  // namespace
}  // namespace ordo::services::request
