#ifndef ORDO_BASE_STATUS_TESTING_STATUS_MATCHERS_H_
#define ORDO_BASE_STATUS_TESTING_STATUS_MATCHERS_H_

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

// Matchers for absl::Status and absl::StatusOr<T>:
//   EXPECT_THAT(Start(), IsOk());
//   EXPECT_THAT(Count(), IsOkAndHolds(3));
//   EXPECT_THAT(Read(path), StatusIs(absl::StatusCode::kNotFound,
//                                    HasSubstr("a.yaml")));

#define ORDO_ASSERT_OK(expression) \
  ASSERT_THAT(expression, ::ordo::base::testing::IsOk())
#define ORDO_EXPECT_OK(expression) \
  EXPECT_THAT(expression, ::ordo::base::testing::IsOk())
// In a test body: assigns the value of a StatusOr or fails the test.
#define ORDO_ASSERT_OK_AND_ASSIGN(lhs, expression)                          \
  ORDO_ASSERT_OK_AND_ASSIGN_IMPL_(ORDO_TEST_CONCAT_(ordo_value_, __LINE__), \
                                  lhs, expression)
#define ORDO_ASSERT_OK_AND_ASSIGN_IMPL_(result, lhs, expression) \
  auto result = (expression);                                    \
  ORDO_ASSERT_OK(result);                                        \
  lhs = *std::move(result)
#define ORDO_TEST_CONCAT_(a, b) ORDO_TEST_CONCAT_IMPL_(a, b)
#define ORDO_TEST_CONCAT_IMPL_(a, b) a##b

namespace ordo::base::testing {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return arg.ok();
}

MATCHER_P(IsOkAndHolds, value, "is OK and holds the value") {
  if (!arg.ok()) {
    *result_listener << "which is " << arg.status().ToString();
    return false;
  }
  using Value = std::decay_t<decltype(*arg)>;
  return ::testing::ExplainMatchResult(
      ::testing::MatcherCast<const Value&>(value), *arg, result_listener);
}

MATCHER_P(StatusIs, code, "has the status code") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code;
}

MATCHER_P2(StatusIs, code, message, "has the status code and message") {
  *result_listener << "which is " << StatusOf(arg).ToString() << " ";
  return StatusOf(arg).code() == code &&
         ::testing::ExplainMatchResult(
             message, std::string(StatusOf(arg).message()), result_listener);
}

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_STATUS_TESTING_STATUS_MATCHERS_H_
