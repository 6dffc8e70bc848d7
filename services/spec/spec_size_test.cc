#include "services/spec/spec_size.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ::testing::HasSubstr;

TEST(SpecSizeTest, TheLongestFieldOfASpecThatIsTooLongIsNamed) {
  JobSpec spec;
  spec.set_queue("q");
  ORDO_EXPECT_OK(CheckSpecSize(spec));
  spec.set_start_from(std::string(kMaxSpecBytes, 'x'));
  EXPECT_THAT(CheckSpecSize(spec),
              base::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("start_from: ")));
}

}  // namespace
}  // namespace ordo::services::spec
