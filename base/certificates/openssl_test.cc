#include "base/certificates/openssl.h"

#include <string>

#include <openssl/pem.h>

#include "base/certificates/issue.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base::certificates {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

TEST(OpenSslTest, AnErrorIsTakenOnce) {
  EXPECT_EQ(TakeError(), "nothing known");
  X509_check_private_key(
      ParseCertificate(
          NewAuthority("a", {absl::UnixEpoch(), absl::Hours(1)})->certificate)
          ->get(),
      ParseKey(*NewKey())->get());
  EXPECT_THAT(TakeError(), HasSubstr("key values mismatch"));
  EXPECT_EQ(TakeError(), "nothing known");
}

TEST(OpenSslTest, AKeyThatNeedsAPasswordIsRefusedAndNobodyIsAsked) {
  const Owned<BIO> writer(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(writer.get(), ParseKey(*NewKey())->get(),
                                EVP_aes_256_cbc(), "secret", 6, nullptr,
                                nullptr);
  EXPECT_THAT(ParseKey(TextOf(*writer)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("without a password")));
}

}  // namespace
}  // namespace ordo::base::certificates
