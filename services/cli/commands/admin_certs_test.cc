#include "services/cli/commands/admin_certs.h"

#include <string>
#include <sys/stat.h>
#include <vector>

#include "base/certificates/certificate.h"
#include "base/files/file_util.h"
#include "base/rpc/client.h"
#include "base/rpc/tls.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AdminCertsTest : public testing::CliTest {
 protected:
  int Certs(std::vector<std::string> args) {
    args.insert(args.begin(), {"admin", "certs"});
    return Run(args);
  }
  std::string Path(const std::string& file) const {
    return base::JoinPath(dir_, file);
  }
  base::Certificate Read(const std::string& file) {
    return base::ReadCertificate(
               base::ReadFile(files_, Path(file), 1 << 16).value())
        .value();
  }
  // Whether the file's key and certificate can be used under the authority.
  absl::Status Check(const std::string& file) {
    return base::CheckTlsFiles({{"certificate", Path(file)},
                                {"key", Path(file)},
                                {"ca", Path("ca.pem")}},
                               clock_.Now());
  }

  const std::string dir_ = folder_.Path("tls");
};

TEST_F(AdminCertsTest, InitMakesAnAuthorityAndCertificates) {
  EXPECT_EQ(
      Certs({"init", dir_, "--host", "ordo.example", "--host", "10.0.0.7",
             "--worker", "node-1", "--worker", "node-2", "--user", "ada"}),
      0)
      << err();
  for (const char* file : {"scheduler.pem", "worker-node-1.pem",
                           "worker-node-2.pem", "user-ada.pem"}) {
    ORDO_EXPECT_OK(Check(file));
  }
  const base::Certificate scheduler = Read("scheduler.pem");
  EXPECT_THAT(scheduler.uri_names, ElementsAre("ordo:scheduler"));
  EXPECT_THAT(scheduler.hosts, ElementsAre("ordo.example", "10.0.0.7",
                                           "localhost", "127.0.0.1", "::1"));
  EXPECT_EQ(scheduler.not_after, clock_.Now() + absl::Hours(24 * 365));
  EXPECT_THAT(Read("worker-node-1.pem").uri_names,
              ElementsAre("ordo:worker/node-1"));
  EXPECT_THAT(Read("user-ada.pem").uri_names, ElementsAre("ordo:user/ada"));
  EXPECT_THAT(Read("user-ada.pem").hosts, IsEmpty());
  EXPECT_THAT(out(), AllOf(HasSubstr(Path("worker-node-2.pem")),
                           HasSubstr("tls { certificate: \"" +
                                     Path("scheduler.pem") + "\""),
                           HasSubstr("certificate_admins: \"ada\""),
                           HasSubstr("export ORDO_CA=" + Path("ca.pem"))));
}

TEST_F(AdminCertsTest, WhoeverAsksGetsACertificateByDefault) {
  EXPECT_EQ(Certs({"init", dir_, "-o", "json"}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("user-" + base::LocalUser() + ".pem"));
  ORDO_EXPECT_OK(Check("user-" + base::LocalUser() + ".pem"));
}

TEST_F(AdminCertsTest, KeysAreTheirOwnersAlone) {
  ASSERT_EQ(Certs({"init", dir_, "--worker", "w"}), 0) << err();
  for (const char* file : {"ca.key", "scheduler.pem", "worker-w.pem"}) {
    struct stat info = {};
    ASSERT_EQ(::stat(Path(file).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600U) << file;
  }
}

TEST_F(AdminCertsTest, NothingIsOverwritten) {
  ASSERT_EQ(Certs({"init", dir_}), 0) << err();
  const auto before = base::ReadFile(files_, Path("ca.pem"), 1 << 16).value();
  EXPECT_EQ(Certs({"init", dir_, "--worker", "w"}), 2);
  EXPECT_THAT(err(), HasSubstr("ca.pem is there; nothing was written"));
  EXPECT_FALSE(base::Exists(files_, Path("worker-w.pem")));
  EXPECT_EQ(base::ReadFile(files_, Path("ca.pem"), 1 << 16).value(), before);
  ASSERT_EQ(Certs({"add", dir_, "--worker", "w"}), 0) << err();
  EXPECT_EQ(Certs({"add", dir_, "--worker", "w"}), 2);
  EXPECT_THAT(err(), HasSubstr("worker-w.pem is there"));
}

TEST_F(AdminCertsTest, AddNeedsTheAuthorityAndANewName) {
  EXPECT_EQ(Certs({"add", dir_, "--worker", "w"}), 2);
  EXPECT_THAT(err(), HasSubstr("'ordo admin certs init'"));
  ASSERT_EQ(Certs({"init", dir_}), 0) << err();
  EXPECT_EQ(Certs({"add", dir_}), 2);
  EXPECT_THAT(err(), HasSubstr("nothing to add"));
  EXPECT_EQ(Certs({"add", dir_, "--user", "ada", "--days", "7"}), 0) << err();
  EXPECT_EQ(Read("user-ada.pem").not_after, clock_.Now() + absl::Hours(24 * 7));
  ORDO_EXPECT_OK(Check("user-ada.pem"));
}

TEST_F(AdminCertsTest, RenewKeepsTheNames) {
  ASSERT_EQ(Certs({"init", dir_, "--host", "h", "--worker", "w"}), 0) << err();
  const base::Certificate before = Read("scheduler.pem");
  clock_.Advance(absl::Hours(24 * 300));
  ASSERT_EQ(Certs({"renew", dir_, "worker-w.pem"}), 0) << err();
  EXPECT_EQ(Read("scheduler.pem").not_after, before.not_after);
  EXPECT_EQ(Read("worker-w.pem").not_after,
            clock_.Now() + absl::Hours(24 * 365));
  ASSERT_EQ(Certs({"renew", dir_}), 0) << err();
  const base::Certificate after = Read("scheduler.pem");
  EXPECT_EQ(after.not_after, clock_.Now() + absl::Hours(24 * 365));
  EXPECT_EQ(after.uri_names, before.uri_names);
  EXPECT_EQ(after.hosts, before.hosts);
  EXPECT_EQ(after.common_name, before.common_name);
  ORDO_EXPECT_OK(Check("scheduler.pem"));
}

TEST_F(AdminCertsTest, WhatIsNotToBeRenewedIsRefused) {
  ASSERT_EQ(Certs({"init", dir_}), 0) << err();
  for (const char* file : {"ca.pem", "ca.key", "../x.pem", "none.pem"}) {
    EXPECT_EQ(Certs({"renew", dir_, file}), 2) << file;
  }
}

TEST_F(AdminCertsTest, BadNamesAreRefusedBeforeAnythingIsWritten) {
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{"--worker", "Node 1"},
                                             {"--worker", "../w"},
                                             {"--user", "a/b"},
                                             {"--user", ".."},
                                             {"--host", "http://h"},
                                             {"--host", "h:7420"},
                                             {"--days", "0"}}) {
    EXPECT_EQ(Certs({"init", dir_, bad[0], bad[1]}), 2) << bad[1];
    EXPECT_FALSE(base::Exists(files_, Path("ca.pem"))) << bad[1];
    EXPECT_FALSE(base::Exists(files_, Path("scheduler.pem"))) << bad[1];
  }
}

TEST_F(AdminCertsTest, OptionsWithoutMeaningAreRefused) {
  EXPECT_EQ(Certs({"renew", dir_, "--host", "h"}), 2);
  EXPECT_THAT(err(), HasSubstr("--host has no meaning"));
  EXPECT_EQ(Certs({"add", dir_, "--host", "h"}), 2);
  EXPECT_EQ(Certs({"renew", dir_, "--worker", "w"}), 2);
}

}  // namespace
}  // namespace ordo::services::cli
