#include "base/sockets/connect.h"

#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sockets/listener.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using testing::StatusIs;

TEST(ConnectTo, WhatOneEndSaysTheOtherHears) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    ORDO_ASSERT_OK_AND_ASSIGN(const Listener listener, ListenAt(host));
    ORDO_ASSERT_OK_AND_ASSIGN(const int here, ConnectTo(host, listener.port));
    const int there = accept(listener.fd, nullptr, nullptr);
    ASSERT_GE(there, 0);
    ASSERT_EQ(write(here, "ab", 2), 2);
    char heard[2] = {};
    ASSERT_EQ(recv(there, heard, sizeof(heard), MSG_WAITALL), 2);
    EXPECT_EQ(std::string(heard, 2), "ab");
    for (const int fd : {here, there, listener.fd}) close(fd);
  }
}

TEST(ConnectTo, SaysWhereNobodyListens) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Listener listener, ListenAt("127.0.0.1"));
  close(listener.fd);
  EXPECT_THAT(ConnectTo("127.0.0.1", listener.port),
              StatusIs(absl::StatusCode::kUnavailable,
                       ::testing::HasSubstr("connect to 127.0.0.1, port ")));
}

TEST(ConnectTo, SaysThatAHostHasNoAddress) {
  EXPECT_THAT(ConnectTo("no host", 1), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::base
