#include "base/rpc/address.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

TEST(ParseHostPortTest, TakesNamesAndAddresses) {
  for (const char* text :
       {"127.0.0.1:7420", "localhost:0", "node-1.lan:65535", "[::1]:80"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const HostPort address, ParseHostPort(text));
    EXPECT_EQ(address.ToString(), text);
  }
  EXPECT_EQ(ParseHostPort("[::1]:80")->host, "::1");
  EXPECT_EQ(ParseHostPort("localhost:80")->port, 80);
}

TEST(ParseHostPortTest, RefusesEverythingElse) {
  for (const char* text : {"", "localhost", ":80", "localhost:", "a:b",
                           "a:65536", "a:-1", "::1:80", "[]:80", "a:80x"}) {
    EXPECT_THAT(
        ParseHostPort(text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("HOST:PORT")))
        << text;
  }
}

TEST(IsLoopbackTest, IsTrueForThisMachineOnly) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) {
    EXPECT_TRUE((HostPort{host, 1}.IsLoopback())) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1",
                           "127.0.0.1.example.org", "localhost.lan"}) {
    EXPECT_FALSE((HostPort{host, 1}.IsLoopback())) << host;
  }
}

}  // namespace
}  // namespace ordo::base
