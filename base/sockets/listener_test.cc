#include "base/sockets/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using testing::StatusIs;

// Whether something takes a connection at 127.0.0.<last> and this port.
bool Connects(int last, uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(0x7f000000 + last);
  const bool connects =
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return connects;
}

TEST(ListenAt, TakesConnectionsAtThatAddressAndNoOther) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Listener listener, ListenAt("127.0.0.1"));
  EXPECT_TRUE(Connects(1, listener.port));
  EXPECT_FALSE(Connects(2, listener.port));
  close(listener.fd);
}

TEST(ListenAt, TwoHavePortsOfTheirOwn) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Listener first, ListenAt("localhost"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Listener second, ListenAt("localhost"));
  EXPECT_NE(first.port, second.port);
  close(first.fd);
  close(second.fd);
}

TEST(ListenAt, SaysWhatIsWrongWithAHost) {
  EXPECT_THAT(ListenAt("no.such.host.invalid"),
              StatusIs(absl::StatusCode::kNotFound,
                       ::testing::HasSubstr("no.such.host.invalid")));
  // Of the addresses for documentation (RFC 5737): nobody's.
  EXPECT_THAT(ListenAt("192.0.2.1"),
              StatusIs(absl::StatusCode::kUnavailable,
                       ::testing::HasSubstr("listen at 192.0.2.1")));
}

}  // namespace
}  // namespace ordo::base
