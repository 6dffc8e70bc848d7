#include "base/metrics/tls_page.h"

#include <arpa/inet.h>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/certificates/certificate.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/testing/scrape.h"
#include "base/sockets/connect.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::PemFolder;
using ::ordo::base::testing::PemPaths;
using ::ordo::base::testing::ScrapeMetricsWithTls;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

const CertificateNames kServer = {"s", kSchedulerUri, {"127.0.0.1"}};

class TlsPageTest : public ::testing::Test {
 protected:
  TlsPageTest() : pem_(folder_.path()) {}

  static TlsFiles Files(const PemPaths& paths, const std::string& ca) {
    return {{"tls.certificate", paths.certificate},
            {"tls.key", paths.key},
            {"tls.metrics_client_ca", ca}};
  }
  void Serve(const TlsFiles& files) {
    ORDO_ASSERT_OK_AND_ASSIGN(
        page_, TlsPage::Start("127.0.0.1:0", files, [this] { return text_; }));
  }
  std::string Scrape(const PemPaths& paths, const std::string& ca) const {
    return ScrapeMetricsWithTls(absl::StrCat("127.0.0.1:", page_->port()),
                                Files(paths, ca));
  }

  testing::TemporaryFolder folder_;
  PemFolder pem_;
  PosixFilesystem files_;
  std::string text_ = "up 1\n";
  std::unique_ptr<TlsPage> page_;
};

TEST_F(TlsPageTest, WhoeverTrustsItReadsThePage) {
  Serve(Files(pem_.Issue("s", kServer), ""));
  EXPECT_EQ(Scrape({}, pem_.ca()), "up 1\n");
  text_ = std::string(1 << 20, 'x');
  EXPECT_EQ(Scrape({}, pem_.ca()), text_);
}

TEST_F(TlsPageTest, AClientsCertificateIsAskedForWhereAnAuthorityIsNamed) {
  Serve(Files(pem_.Issue("s", kServer), pem_.ca()));
  EXPECT_EQ(Scrape({}, pem_.ca()), "");
  const testing::TemporaryFolder elsewhere;
  const PemFolder foreign(elsewhere.path());
  EXPECT_EQ(Scrape(foreign.Issue("p", {"p", ""}), pem_.ca()), "");
  EXPECT_EQ(Scrape(pem_.Issue("p", {"p", ""}), pem_.ca()), "up 1\n");
}

TEST_F(TlsPageTest, AnotherCertificateIsTakenWithoutARestart) {
  Serve(Files(pem_.Issue("s", {"s", "", {"ordo.example"}}), ""));
  EXPECT_EQ(Scrape({}, pem_.ca()), "");
  pem_.Issue("s", kServer);
  EXPECT_EQ(Scrape({}, pem_.ca()), "up 1\n");
  ORDO_ASSERT_OK(AtomicWrite(files_, folder_.Path("s.pem"), "half of it"));
  EXPECT_EQ(Scrape({}, pem_.ca()), "up 1\n");
}

TEST_F(TlsPageTest, WithoutTlsNothingIsAnswered) {
  Serve(Files(pem_.Issue("s", kServer), ""));
  EXPECT_EQ(testing::ScrapeMetrics(absl::StrCat("127.0.0.1:", page_->port())),
            "");
}

TEST_F(TlsPageTest, WhatCannotBeServedIsAnErrorThatNamesIt) {
  const PemPaths paths = pem_.Issue("s", kServer);
  Serve(Files(paths, ""));
  const auto text = [] { return std::string(); };
  EXPECT_THAT(TlsPage::Start(absl::StrCat("127.0.0.1:", page_->port()),
                             Files(paths, ""), text),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(absl::StrCat(page_->port()))));
  EXPECT_THAT(TlsPage::Start("127.0.0.1:0", Files({}, ""), text),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("tls.certificate")));
}

TEST_F(TlsPageTest, WhoComesWhenThereAreNoMoreFilesCostsNothing) {
  Serve(Files(pem_.Issue("s", kServer), ""));
  const int stranger = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(stranger, 0);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::open("/dev/null", O_RDONLY);
  ::close(next);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(page_->port()));
  const bool knocked =
      ::connect(stranger, reinterpret_cast<const sockaddr*>(&address),
                sizeof address) == 0 &&
      ::send(stranger, "x", 1, 0) == 1;
  const std::clock_t start = std::clock();
  ::poll(nullptr, 0, 500);
  const std::clock_t used = std::clock() - start;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(knocked);
  EXPECT_LT(used, CLOCKS_PER_SEC / 4);
  ::close(stranger);
  EXPECT_EQ(Scrape({}, pem_.ca()), "up 1\n");
}

TEST_F(TlsPageTest, ItEndsWhileStrangersSayNothing) {
  Serve(Files(pem_.Issue("s", kServer), ""));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const int stranger,
      ConnectTo("127.0.0.1", static_cast<uint16_t>(page_->port())));
  EXPECT_EQ(Scrape({}, pem_.ca()), "up 1\n");
  page_.reset();
  ::close(stranger);
}

}  // namespace
}  // namespace ordo::base
