#include "base/rpc/client.h"

#include <chrono>

#include "base/rpc/server.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(ConnectTest, IsLazy) {
  // Nobody listens on this port of loopback.
  const auto channel = Connect("127.0.0.1:1");
  EXPECT_EQ(channel->GetState(/*try_to_connect=*/false), GRPC_CHANNEL_IDLE);
}

TEST(ConnectTest, ReachesAServer) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto server, RpcServer::Start({}, {}));
  const auto channel = Connect(server->address());
  EXPECT_TRUE(channel->WaitForConnected(std::chrono::system_clock::now() +
                                        std::chrono::seconds(20)));
}

TEST(PrepareCallTest, SetsADeadlineUnlessItIsInfinite) {
  grpc::ClientContext limited;
  PrepareCall({absl::Seconds(100), "ada", true}, &limited);
  const auto left = limited.deadline() - std::chrono::system_clock::now();
  EXPECT_GT(left, std::chrono::seconds(50));
  EXPECT_LT(left, std::chrono::seconds(101));
  grpc::ClientContext endless;
  PrepareCall({absl::InfiniteDuration(), "", false}, &endless);
  EXPECT_GT(endless.deadline(),
            std::chrono::system_clock::now() + std::chrono::hours(1000));
}

TEST(LocalUserTest, IsNamed) { EXPECT_NE(LocalUser(), ""); }

}  // namespace
}  // namespace ordo::base
