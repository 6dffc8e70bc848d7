#include "base/rpc/address.h"

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/log/log.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(AddressOfTest, HasNoPort) {
  EXPECT_EQ(AddressOf("ipv4:10.0.0.1:5000"), "10.0.0.1");
  EXPECT_EQ(AddressOf("ipv6:%5B::1%5D:5000"), "%5B::1%5D");
  EXPECT_EQ(AddressOf("unix:/run/ordo"), "unix:/run/ordo");
  EXPECT_EQ(AddressOf(""), "");
}

TEST(CheckListenTest, OffLoopbackNeedsTlsOrPermission) {
  ORDO_EXPECT_OK(CheckListen("127.0.0.1:0", false));
  EXPECT_THAT(CheckListen("0.0.0.0:9100", false),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("certificates (tls)"),
                             HasSubstr("insecure: true"))));
  EXPECT_THAT(CheckListen("0.0.0.0:9100", false, "give --insecure"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("or give --insecure if")));
  ORDO_EXPECT_OK(CheckListen("0.0.0.0:9100", true));
  EXPECT_THAT(
      CheckListen("nowhere", true),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("HOST:PORT")));
}

TEST(WarnIfOpenTest, NamesEachListenerThatOthersReach) {
  testing::TemporaryFolder folder;
  PosixFilesystem files;
  LogOptions options;
  options.file = folder.Path("log");
  ORDO_ASSERT_OK(StartLogging(options));
  WarnIfOpen({{"listen", "127.0.0.1:0"}});
  WarnIfOpen({{"listen", "0.0.0.0:1"}, {"metrics_listen", "[::]:2"}});
  ORDO_ASSERT_OK(StartLogging(LogOptions()));
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string log,
                            ReadFile(files, options.file, 10000));
  EXPECT_THAT(log, HasSubstr("WARNING"));
  EXPECT_THAT(log, HasSubstr("field=listen address=0.0.0.0:1"));
  EXPECT_THAT(log, HasSubstr("field=metrics_listen address=[::]:2"));
  EXPECT_THAT(log, Not(HasSubstr("127.0.0.1")));
}

}  // namespace
}  // namespace ordo::base
