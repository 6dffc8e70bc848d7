#include "base/metrics/exposer.h"

#include <arpa/inet.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "base/metrics/metrics.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

// What a GET of /metrics on loopback answers.
std::string Get(int port) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(connection, reinterpret_cast<sockaddr*>(&address),
                sizeof address) == 0) {
    const std::string request =
        "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(::write(connection, request.data(), request.size()),
              static_cast<ssize_t>(request.size()));
    char part[4096];
    ssize_t size = 0;
    while ((size = ::read(connection, part, sizeof part)) > 0) {
      answer.append(part, static_cast<size_t>(size));
    }
  }
  ::close(connection);
  return answer;
}

TEST(MetricsExposerTest, ServesThePageOnAPortOfItsChoice) {
  MetricsRegistry registry;
  registry.AddGauge({"ordo_test_queue_jobs", "Jobs."}).With({}).Set(4);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto exposer,
                            MetricsExposer::Start("127.0.0.1:0", registry));
  EXPECT_GT(exposer->port(), 0);
  EXPECT_EQ(exposer->address(), "127.0.0.1:" + std::to_string(exposer->port()));
  EXPECT_THAT(Get(exposer->port()), HasSubstr("ordo_test_queue_jobs 4\n"));
}

TEST(MetricsExposerTest, APortInUseIsAnErrorThatNamesIt) {
  MetricsRegistry registry;
  ORDO_ASSERT_OK_AND_ASSIGN(const auto exposer,
                            MetricsExposer::Start("127.0.0.1:0", registry));
  EXPECT_THAT(MetricsExposer::Start(exposer->address(), registry),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(exposer->address())));
}

TEST(MetricsExposerTest, ABadAddressIsAnError) {
  MetricsRegistry registry;
  EXPECT_THAT(MetricsExposer::Start("here", registry),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace ordo::base
