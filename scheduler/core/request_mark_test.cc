#include "scheduler/core/request_mark.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

TEST(RequestMarkTest, GivesBackWhatItWasMadeOf) {
  const std::string hex(64, 'a');
  const std::string long_id(1000, 'r');
  for (const std::string& id : {std::string("r"), long_id}) {
    for (const std::string& fingerprint :
         {std::string(), std::string("f"), std::string("0a"), hex,
          std::string("0A"), std::string("\0x", 2)}) {
      const RequestMark mark(id, fingerprint);
      EXPECT_FALSE(mark.empty());
      EXPECT_EQ(mark.id(), id);
      EXPECT_EQ(mark.fingerprint(), fingerprint);
    }
  }
}

TEST(RequestMarkTest, WithoutAnIdNothingIsKept) {
  const RequestMark mark("", "fingerprint");
  EXPECT_TRUE(mark.empty());
  EXPECT_EQ(mark.id(), "");
  EXPECT_EQ(mark.fingerprint(), "");
}

TEST(RequestMarkTest, ATraceIsKeptWithAnIdAndWithoutOne) {
  const std::string trace =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  for (const std::string& id : {std::string("r"), std::string()}) {
    const RequestMark mark(id, "0123", trace);
    const RequestMark copy = mark;
    EXPECT_EQ(copy.empty(), id.empty());
    EXPECT_EQ(copy.id(), id);
    EXPECT_EQ(copy.fingerprint(), id.empty() ? "" : "0123");
    EXPECT_EQ(copy.trace_parent(), trace);
  }
  EXPECT_EQ(RequestMark("r", "f").trace_parent(), "");
  EXPECT_EQ(RequestMark().trace_parent(), "");
}

TEST(RequestMarkTest, CopiesStandForThemselves) {
  RequestMark mark("a", "0123");
  const RequestMark copy = mark;
  mark = RequestMark("b", "f");
  EXPECT_EQ(copy.id(), "a");
  EXPECT_EQ(copy.fingerprint(), "0123");
  mark = copy;
  EXPECT_EQ(mark.id(), "a");
  mark = RequestMark();
  EXPECT_TRUE(mark.empty());
  const RequestMark moved = std::move(mark);
  EXPECT_TRUE(moved.empty());
}

}  // namespace
}  // namespace ordo::scheduler::core
