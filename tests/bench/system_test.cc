#include "tests/bench/system.h"

#include <chrono>
#include <memory>
#include <vector>

#include "base/rpc/client.h"
#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using ::ordo::base::testing::IsOk;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FilesystemOf, NamesTheTypeByItsNumber) {
  EXPECT_THAT(FilesystemOf("/proc/self"), IsOkAndHolds("proc"));
  EXPECT_THAT(FilesystemOf("/no/such/folder"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(CheckDurable, RefusesMemoryAndSaysWhatToGive) {
  EXPECT_THAT(CheckDurable("/a", "ext2/3/4"), IsOk());
  for (const char* memory : {"tmpfs", "ramfs"}) {
    EXPECT_THAT(CheckDurable("/a", memory),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("/a"), HasSubstr(memory),
                               HasSubstr("--dir"))));
  }
}

TEST(ConnectionsTo, CountsEachChannelThatIsAlone) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto server, base::RpcServer::Start({}, {}));
  EXPECT_THAT(ConnectionsTo(server->address()), IsOkAndHolds(0));
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < 3; ++i) {
    channels.push_back(base::ConnectAlone(server->address()));
    ASSERT_TRUE(channels.back()->WaitForConnected(
        std::chrono::system_clock::now() + std::chrono::seconds(20)));
  }
  EXPECT_THAT(ConnectionsTo(server->address()), IsOkAndHolds(3));
  EXPECT_THAT(ConnectionsTo("nowhere"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CheckNewConnections, SeesOneThatIsMissing) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto server, base::RpcServer::Start({}, {}));
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < 3; ++i) {
    channels.push_back(base::ConnectAlone(server->address()));
    ASSERT_TRUE(channels.back()->WaitForConnected(
        std::chrono::system_clock::now() + std::chrono::seconds(20)));
  }
  ORDO_EXPECT_OK(CheckNewConnections(server->address(), 0, 3));
  ORDO_EXPECT_OK(CheckNewConnections(server->address(), 1, 2));
  EXPECT_THAT(CheckNewConnections(server->address(), 1, 3),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("3 clients have 2 connections")));
}

}  // namespace
}  // namespace ordo::tests::bench
