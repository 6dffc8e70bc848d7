#include "base/certificates/tls_files.h"

#include <string>

#include "base/certificates/certificate.h"
#include "base/certificates/testing/pem_folder.h"
#include "base/clock/clock.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::HoldsFor;
using ::ordo::base::testing::PemFolder;
using ::ordo::base::testing::PemPaths;
using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(TlsFilesTest, EachFileThatCannotBeUsedIsNamed) {
  const testing::TemporaryFolder folder;
  const PemFolder pem(folder.path());
  const auto files = [&pem](const PemPaths& paths,
                            const std::string& ca) -> TlsFiles {
    return {{"tls.certificate", paths.certificate},
            {"tls.key", paths.key},
            {"tls.ca", ca}};
  };
  const auto with_ca = [&](const PemPaths& paths) {
    return files(paths, pem.ca());
  };
  const auto check = [&](const TlsFiles& given) {
    return CheckTlsFiles(given, RealClock().Now());
  };
  const auto says = [](const std::string& what) {
    return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what));
  };
  const CertificateNames names = {"s", kSchedulerUri, {"127.0.0.1"}};
  const PemPaths one = pem.Issue("one", names);
  const PemPaths two = pem.Issue("two", names);
  ORDO_EXPECT_OK(check(with_ca(one)));
  EXPECT_THAT(check(with_ca({one.certificate, ""})), says("needs tls.key"));
  EXPECT_THAT(check(with_ca({"", one.key})), says("needs tls.certificate"));
  EXPECT_THAT(
      check(with_ca({folder.Path("none.pem"), one.key})),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("tls.certificate " + folder.Path("none.pem")),
                     HasSubstr("No such file"), HasSubstr("may read"))));
  EXPECT_THAT(check(with_ca({one.certificate, two.key})),
              says("name the key of tls.certificate"));
  EXPECT_THAT(check(with_ca({one.key, one.key})),
              says("holds no PEM certificate"));
  EXPECT_THAT(check(files(one, folder.Path("none.pem"))), says("tls.ca"));
  EXPECT_THAT(check(files(one, one.key)), says("tls.ca"));
  EXPECT_THAT(
      check(with_ca(pem.Issue("old", names, HoldsFor(-absl::Minutes(1))))),
      says("expired on"));
}

}  // namespace
}  // namespace ordo::base
