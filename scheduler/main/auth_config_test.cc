#include "scheduler/main/auth_config.h"

#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "base/units/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler {
namespace {

using base::testing::IsOk;
using base::testing::StatusIs;
using config::v1::Auth;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> BadFields(Auth* auth) {
  std::vector<base::FieldViolation> violations;
  ResolveAuth(auth, &violations);
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

Auth WithJwt() {
  Auth auth;
  auth.mutable_jwt()->set_issuer("https://id.example");
  auth.mutable_jwt()->add_audiences("ordo");
  auth.mutable_jwt()->set_key_set_file("/etc/keys.json");
  return auth;
}

class AuthConfigTest : public ::testing::Test {
 protected:
  absl::StatusOr<KnownBy> Load(const Auth& auth) {
    return LoadAuth(auth, files_, clock_);
  }
  std::string Written(const std::string& text) {
    const std::string path = folder_.Path("file");
    ORDO_EXPECT_OK(base::AtomicWrite(files_, path, text));
    return path;
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
};

TEST_F(AuthConfigTest, AnEmptyOneKnowsCertificatesAndTokens) {
  Auth auth;
  EXPECT_THAT(BadFields(&auth), IsEmpty());
  const auto known = Load(auth);
  ASSERT_THAT(known, IsOk());
  EXPECT_THAT(known->options.certificate_admins, ElementsAre("admin"));
  EXPECT_EQ(known->options.certificate_role, ordo::access::v1::USER);
  EXPECT_EQ(known->options.admin_token_sha256, "");
  EXPECT_EQ(known->options.jwt, nullptr);
}

TEST_F(AuthConfigTest, WhatIsWrongIsNamed) {
  Auth auth = WithJwt();
  EXPECT_THAT(BadFields(&auth), IsEmpty());
  auth.set_admin_token_file("relative");
  auth.add_certificate_admins("a b");
  auth.set_certificate_role("owner");
  (*auth.mutable_jwt()->mutable_roles())["ops"] = "root";
  *auth.mutable_jwt()->mutable_clock_skew() =
      base::ToProtoDuration(absl::Minutes(11));
  EXPECT_THAT(BadFields(&auth),
              ElementsAre("auth.admin_token_file", "auth.certificate_admins[1]",
                          "auth.certificate_role", "auth.jwt.roles[\"ops\"]",
                          "auth.jwt.clock_skew"));
  Auth empty;
  empty.mutable_jwt();
  EXPECT_THAT(BadFields(&empty),
              ElementsAre("auth.jwt.issuer", "auth.jwt.audiences",
                          "auth.jwt.key_set_file"));
}

TEST_F(AuthConfigTest, TheFirstAdministratorsSecretIsRead) {
  const std::string secret(32, 's');
  Auth auth;
  auth.set_admin_token_file(Written("\n" + secret + " \n"));
  EXPECT_THAT(BadFields(&auth), IsEmpty());
  const auto known = Load(auth);
  ASSERT_THAT(known, IsOk());
  EXPECT_EQ(known->options.admin_token_sha256, base::Sha256Hex(secret));
  for (const std::string& wrong :
       {std::string(31, 's'), std::string(1025, 's'), secret + " " + secret,
        secret + ".b.c", std::string()}) {
    Written(wrong);
    EXPECT_THAT(
        Load(auth).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("openssl rand")))
        << wrong;
  }
  ORDO_ASSERT_OK(files_.RemoveFile(auth.admin_token_file()));
  EXPECT_THAT(Load(auth).status(), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(AuthConfigTest, AKeySetThatIsNoneEndsTheStart) {
  Auth auth = WithJwt();
  auth.mutable_jwt()->set_key_set_file(Written("{}"));
  EXPECT_THAT(BadFields(&auth), IsEmpty());
  EXPECT_THAT(Load(auth).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("key set " + folder_.Path("file"))));
}

}  // namespace
}  // namespace ordo::scheduler
