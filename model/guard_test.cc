#include "model/guard.h"

#include <new>
#include <stdexcept>
#include <string>

#include "ATen/ops/empty.h"
#include "ATen/ops/ones.h"
#include "base/status/testing/status_matchers.h"
#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(GuardTest, ValuesAndStatusesPassThrough) {
  EXPECT_THAT(Guard("add", [] { return 1 + 1; }), IsOkAndHolds(2));
  EXPECT_THAT(Guard("do", [] {}), IsOk());
  EXPECT_THAT(Guard("ask", [] { return absl::NotFoundError("x"); }),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Guard("ask", [] { return absl::StatusOr<int>(3); }),
              IsOkAndHolds(3));
}

TEST(GuardTest, LibTorchsErrorIsInternalAndWithoutStackTrace) {
  const auto result = Guard("multiply", [] {
    return at::ones({2, 3}).matmul(at::ones({2, 3}));
  });
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInternal,
                               AllOf(HasSubstr("multiply: "),
                                     Not(HasSubstr("frame #")))));
}

TEST(GuardTest, AnAllocationThatCannotBeIsResourceExhausted) {
  const auto result =
      Guard("allocate", [] { return at::empty({int64_t{1} << 55}); });
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(GuardTest, OutOfMemoryIsResourceExhausted) {
  EXPECT_THAT(Guard("new", [] { throw std::bad_alloc(); }),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(
      Guard("cuda", [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "full"); }),
      StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(GuardTest, ARefusedValueIsAnInvalidArgument) {
  EXPECT_THAT(
      Guard("look up", [] { TORCH_CHECK_VALUE(false, "id 9"); }),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("look up: id 9")));
}

TEST(GuardTest, AFailedDeviceIsUnavailable) {
  EXPECT_THAT(Guard("copy", [] { TORCH_CHECK(false, "CUDA error: ECC"); }),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(GuardTest, OtherExceptionsAreInternal) {
  EXPECT_THAT(Guard("parse", [] { throw std::runtime_error("odd"); }),
              StatusIs(absl::StatusCode::kInternal, "parse: odd"));
  EXPECT_THAT(Guard("throw", [] { throw 5; }),
              StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace ordo::model
