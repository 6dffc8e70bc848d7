#include "model/tasks/data_access.h"

#include "base/status/details.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

TEST(DataMissingTest, WhatCannotBeReadHasTheReason) {
  for (const absl::Status& status :
       {absl::NotFoundError("x"), absl::DataLossError("x"),
        absl::PermissionDeniedError("x")}) {
    const absl::Status marked = DataMissing(status);
    EXPECT_EQ(marked.code(), status.code());
    ASSERT_TRUE(base::GetErrorInfo(marked).has_value()) << status;
    EXPECT_EQ(base::GetErrorInfo(marked)->reason, kDataMissingReason);
  }
}

TEST(DataMissingTest, WhatIsToBeMendedOrEndsOtherwiseHasNot) {
  for (const absl::Status& status :
       {absl::OkStatus(), base::InvalidField("data", "is wrong"),
        absl::CancelledError("stopped"),
        absl::ResourceExhaustedError("disk full")}) {
    EXPECT_FALSE(base::GetErrorInfo(DataMissing(status)).has_value()) << status;
  }
}

TEST(DataMissingTest, AReasonThatIsThereStays) {
  base::ErrorInfo info;
  info.reason = "STORAGE_ERROR";
  const absl::Status marked =
      DataMissing(base::WithErrorInfo(absl::DataLossError("x"), info));
  EXPECT_EQ(base::GetErrorInfo(marked)->reason, "STORAGE_ERROR");
}

}  // namespace
}  // namespace ordo::model::tasks
