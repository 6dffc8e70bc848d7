#include "base/digest/signature.h"

#include <string>

#include "base/digest/testing/signing_key.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using testing::IsOk;
using testing::SigningKey;
using testing::StatusIs;

PublicKey PublicOf(const SigningKey& key, bool is_rsa) {
  return is_rsa ? PublicKey::Rsa(key.Number("n"), key.Number("e")).value()
                : PublicKey::P256(key.Number("x"), key.Number("y")).value();
}

TEST(SignatureTest, WhatTheKeySignedIsItsOwn) {
  for (const bool is_rsa : {true, false}) {
    const SigningKey key = is_rsa ? SigningKey::Rsa() : SigningKey::P256();
    const PublicKey verifies = PublicOf(key, is_rsa);
    EXPECT_STREQ(verifies.algorithm(), is_rsa ? "RS256" : "ES256");
    const std::string signature = key.Sign("said");
    EXPECT_THAT(verifies.Verify("said", signature), IsOk());
    const auto is_refused = StatusIs(absl::StatusCode::kUnauthenticated);
    EXPECT_THAT(verifies.Verify("Said", signature), is_refused);
    EXPECT_THAT(verifies.Verify("said", ""), is_refused);
    EXPECT_THAT(verifies.Verify("said", signature + "x"), is_refused);
    EXPECT_THAT(verifies.Verify("said", signature.substr(1)), is_refused);
    EXPECT_THAT(verifies.Verify("said", std::string(64, '\0')), is_refused);
    const SigningKey other = is_rsa ? SigningKey::Rsa() : SigningKey::P256();
    EXPECT_THAT(verifies.Verify("said", other.Sign("said")), is_refused);
  }
}

TEST(SignatureTest, WeakAndBrokenKeysAreRefused) {
  const auto is_invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  const SigningKey weak = SigningKey::Rsa(1024);
  EXPECT_THAT(PublicKey::Rsa(weak.Number("n"), weak.Number("e")).status(),
              is_invalid);
  EXPECT_THAT(PublicKey::Rsa("", "").status(), is_invalid);
  const SigningKey key = SigningKey::P256();
  EXPECT_THAT(PublicKey::P256(key.Number("x"), key.Number("x")).status(),
              is_invalid);
  EXPECT_THAT(PublicKey::P256(key.Number("x"), "").status(), is_invalid);
  EXPECT_THAT(
      PublicKey::P256(std::string(32, '\0'), std::string(32, '\0')).status(),
      is_invalid);
}

}  // namespace
}  // namespace ordo::base
