#include "base/process/ready.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;

TEST(TellReadyTest, TheManagerHearsIt) {
  // A name that no file has: a test's folder may be too long for a socket.
  const std::string name = "ordo-ready-test-" + std::to_string(getpid());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                        name.size())),
            0);

  ORDO_ASSERT_OK(TellReady(("@" + name).c_str()));
  char said[64] = {};
  EXPECT_EQ(recv(fd, said, sizeof(said), MSG_DONTWAIT), 7);
  EXPECT_STREQ(said, "READY=1");
  close(fd);

  EXPECT_THAT(TellReady(("@" + name).c_str()),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(TellReadyTest, NobodyWaits) {
  ORDO_EXPECT_OK(TellReady(nullptr));
  ORDO_EXPECT_OK(TellReady(""));
}

TEST(TellReadyTest, WhatIsNoSocketIsRefused) {
  EXPECT_THAT(TellReady("vsock:2:1"),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(TellReady(("/" + std::string(200, 'x')).c_str()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(TellReady("/nowhere/socket"),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::base
