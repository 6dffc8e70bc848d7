#include "services/request/page.h"

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::request {
namespace {

using base::testing::StatusIs;

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

}  // namespace
}  // namespace ordo::services::request
