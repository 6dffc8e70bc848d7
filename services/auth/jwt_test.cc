#include "services/auth/jwt.h"

#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock/testing/fake_clock.h"
#include "base/digest/testing/signing_key.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::auth {
namespace {

using base::testing::IsOk;
using base::testing::SigningKey;
using base::testing::StatusIs;
using ::testing::HasSubstr;

std::string Encoded(const std::string& text) {
  return absl::WebSafeBase64Escape(text);
}

std::string RsaKey(const SigningKey& key, const std::string& more) {
  return absl::StrCat(R"({"kty": "RSA", "n": ")", Encoded(key.Number("n")),
                      R"(", "e": ")", Encoded(key.Number("e")), R"(", )", more,
                      "}");
}

std::string EcKey(const SigningKey& key, const std::string& more) {
  return absl::StrCat(R"({"kty": "EC", "crv": "P-256", "x": ")",
                      Encoded(key.Number("x")), R"(", "y": ")",
                      Encoded(key.Number("y")), R"(", )", more, "}");
}

std::string SetOf(const std::string& keys) {
  return absl::StrCat(R"({"keys": [)", keys, "]}");
}

class JwtTest : public ::testing::Test {
 protected:
  JwtTest() {
    WriteKeys(SetOf(RsaKey(rsa_, R"("kid": "r")") + ", " +
                    EcKey(ec_, R"("kid": "e")")));
  }

  void WriteKeys(const std::string& text) {
    ORDO_EXPECT_OK(base::AtomicWrite(files_, folder_.Path("keys.json"), text));
  }

  JwtOptions Options() {
    JwtOptions options;
    options.issuer = "https://id.example";
    options.audiences = {"ordo", "ordo-ci"};
    options.key_set_file = folder_.Path("keys.json");
    return options;
  }

  void Open(const JwtOptions& options) {
    verifier_ = JwtVerifier::Make(options, files_, clock_).value();
  }

  // Claims that are right, but for these.
  std::string Claims(const std::string& more = "",
                     const std::string& subject = "ada") {
    return absl::StrCat(
        R"({"iss": "https://id.example", "aud": ["other", "ordo"], "exp": )",
        absl::ToUnixSeconds(clock_.Now()) + 600, R"(, "sub": ")", subject,
        R"(", "role": "user")", more, "}");
  }

  std::string Signed(const std::string& header, const std::string& claims) {
    const std::string text = Encoded(header) + "." + Encoded(claims);
    const SigningKey& key =
        header.find("\"e\"") != std::string::npos ? ec_ : rsa_;
    return text + "." + Encoded(key.Sign(text));
  }
  std::string Token(const std::string& claims) {
    return Signed(R"({"alg": "RS256", "kid": "r"})", claims);
  }

  absl::StatusOr<VisitorPtr> Verify(const std::string& token) {
    if (verifier_ == nullptr) Open(Options());
    return verifier_->Verify(token);
  }
  void ExpectRefused(const std::string& token, const std::string& why) {
    EXPECT_THAT(Verify(token).status(),
                StatusIs(absl::StatusCode::kUnauthenticated, HasSubstr(why)))
        << token;
  }

  const SigningKey rsa_ = SigningKey::Rsa();
  const SigningKey ec_ = SigningKey::P256();
  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  std::unique_ptr<JwtVerifier> verifier_;
};

TEST_F(JwtTest, OneThatWasVerifiedIsKnownUntilItExpiresOrItsKeyIsGone) {
  const std::string token = Token(Claims());
  const std::string other = Token(Claims("", "bob"));
  ASSERT_THAT(Verify(token), IsOk());
  EXPECT_TRUE(verifier_->WasVerified(token));
  EXPECT_FALSE(verifier_->WasVerified(other));
  EXPECT_FALSE(verifier_->WasVerified("a.b.c"));
  WriteKeys(SetOf(EcKey(ec_, R"("kid": "e")")));
  clock_.Advance(absl::Seconds(11));
  EXPECT_FALSE(Verify(token).ok());
  EXPECT_FALSE(verifier_->WasVerified(token));
  const std::string last = Signed(R"({"alg": "ES256", "kid": "e"})", Claims());
  ASSERT_THAT(Verify(last), IsOk());
  clock_.Advance(absl::Minutes(12));
  EXPECT_FALSE(verifier_->WasVerified(last));
}

TEST_F(JwtTest, AJwtOfEitherAlgorithmIsItsUsers) {
  for (const char* header :
       {R"({"alg": "RS256", "kid": "r"})", R"({"alg": "ES256", "kid": "e"})"}) {
    const auto visitor = Verify(Signed(header, Claims()));
    ASSERT_THAT(visitor, IsOk()) << header;
    EXPECT_EQ((*visitor)->owner.user(), "ada");
    EXPECT_TRUE((*visitor)->owner.verified());
    EXPECT_EQ((*visitor)->role, ordo::access::v1::USER);
    EXPECT_EQ((*visitor)->known_by, "jwt");
    EXPECT_TRUE((*visitor)->MaySee("any"));
    EXPECT_EQ((*visitor)->expiry,
              absl::FromUnixSeconds(absl::ToUnixSeconds(clock_.Now()) + 600));
  }
}

TEST_F(JwtTest, TheKeyAndNotTheTokenSaysWhichAlgorithm) {
  ExpectRefused(
      Encoded(R"({"alg": "none", "kid": "r"})") + "." + Encoded(Claims()) + ".",
      "is not signed by RS256");
  ExpectRefused(Signed(R"({"alg": "HS256", "kid": "r"})", Claims()),
                "is not signed by RS256");
  ExpectRefused(Signed(R"({"alg": "RS256", "kid": "e"})", Claims()),
                "is not signed by ES256");
  ExpectRefused(Signed(R"({"kid": "r"})", Claims()), "is not signed by RS256");
}

TEST_F(JwtTest, KeysAreNamed) {
  ExpectRefused(Signed(R"({"alg": "RS256"})", Claims()), "names no key");
  ExpectRefused(Signed(R"({"alg": "RS256", "kid": "x"})", Claims()),
                "names no key");
}

TEST_F(JwtTest, ASignatureIsOfEveryByte) {
  const std::string token = Token(Claims());
  const std::string other = Token(Claims("", "root"));
  const size_t dot = token.find('.');
  const size_t end = token.rfind('.');
  const size_t other_end = other.rfind('.');
  ExpectRefused(token.substr(0, dot) + other.substr(dot, other_end - dot) +
                    token.substr(end),
                "has a wrong signature");
  ExpectRefused(token.substr(0, end) + ".", "has a wrong signature");
  ExpectRefused(token + "=", "cannot be read");
  ExpectRefused("a.b.c.d", "does not have three parts");
  ExpectRefused("..", "cannot be read");
  ExpectRefused(Token("no claims"), "has no claims");
  ExpectRefused(
      Signed(R"({"alg": "RS256", "kid": "r", "crit": ["b64"]})", Claims()),
      "asks for extensions");
}

TEST_F(JwtTest, TimesAreKeptUpToTheSkewOfClocks) {
  const int64_t now = absl::ToUnixSeconds(clock_.Now());
  const auto with = [](const std::string& times) {
    return absl::StrCat(R"({"iss": "https://id.example", "aud": "ordo", )",
                        R"("sub": "ada", "role": "user")", times, "}");
  };
  ExpectRefused(Token(with("")), "does not say when it expires");
  ExpectRefused(Token(with(R"(, "exp": "soon")")),
                "does not say when it expires");
  ExpectRefused(Token(with(absl::StrCat(R"(, "exp": )", now - 60))),
                "has expired");
  EXPECT_THAT(Verify(Token(with(absl::StrCat(R"(, "exp": )", now - 59)))),
              IsOk());
  const std::string expires = absl::StrCat(R"(, "exp": )", now + 600);
  ExpectRefused(Token(with(absl::StrCat(expires, R"(, "nbf": )", now + 61))),
                "does not hold yet");
  EXPECT_THAT(
      Verify(Token(with(absl::StrCat(expires, R"(, "nbf": )", now + 60)))),
      IsOk());
  // One that was verified once expires as well.
  const std::string token = Token(with(expires));
  EXPECT_THAT(Verify(token), IsOk());
  clock_.Advance(absl::Seconds(660));
  ExpectRefused(token, "has expired");
}

TEST_F(JwtTest, IssuerAndAudienceMustBeOurs) {
  const std::string times =
      absl::StrCat(R"("exp": )", absl::ToUnixSeconds(clock_.Now()) + 600,
                   R"(, "sub": "ada", "role": "user"})");
  ExpectRefused(
      Token(R"({"iss": "https://evil.example", "aud": "ordo", )" + times),
      "is not of the issuer");
  ExpectRefused(Token(R"({"aud": "ordo", )" + times), "is not of the issuer");
  ExpectRefused(
      Token(R"({"iss": "https://id.example", "aud": "other", )" + times),
      "is not for ordo or ordo-ci");
  ExpectRefused(Token(R"({"iss": "https://id.example", )" + times),
                "is not for ordo");
}

TEST_F(JwtTest, ClaimsGiveTheUserTheRoleAndTheQueues) {
  JwtOptions options = Options();
  options.user_claim = "email";
  options.role_claim = "realm.roles";
  options.roles = {{"ops", ordo::access::v1::ADMIN},
                   {"staff", ordo::access::v1::USER}};
  options.queues_claim = "queues";
  Open(options);
  const auto visitor = Verify(
      Token(Claims(R"(, "email": "ada@example", "queues": ["night"], )"
                   R"("realm": {"roles": ["staff", "ops", "unknown", 7]})")));
  ASSERT_THAT(visitor, IsOk());
  EXPECT_EQ((*visitor)->owner.user(), "ada@example");
  EXPECT_EQ((*visitor)->role, ordo::access::v1::ADMIN);
  EXPECT_TRUE((*visitor)->MaySee("night"));
  EXPECT_FALSE((*visitor)->MaySee("default"));
  // Who says nothing of queues sees none.
  const auto bound = Verify(Token(
      Claims(R"(, "email": "bob@example", "realm": {"roles": "staff"})")));
  ASSERT_THAT(bound, IsOk());
  EXPECT_FALSE((*bound)->MaySee("night"));
  ExpectRefused(Token(Claims(R"(, "email": "eve@example")")),
                "gives eve@example no role in its claim realm.roles");
  ExpectRefused(Token(Claims(R"(, "email": "a b")")), "gives no user name");
}

TEST_F(JwtTest, KeysThatChangeAreReadAgain) {
  const std::string token = Token(Claims());
  ASSERT_THAT(Verify(token), IsOk());
  WriteKeys(SetOf(EcKey(ec_, R"("kid": "e")")));
  clock_.Advance(absl::Seconds(10));
  ExpectRefused(token, "names no key");
  // One that cannot be read leaves things as they are.
  WriteKeys("nonsense");
  clock_.Advance(absl::Seconds(10));
  EXPECT_THAT(Verify(Signed(R"({"alg": "ES256", "kid": "e"})", Claims())),
              IsOk());
}

TEST(KeySetTest, KeysForSomethingElseAreLeftOut) {
  const SigningKey key = SigningKey::Rsa();
  const auto parsed = ParseKeySet(
      SetOf(RsaKey(key, R"("kid": "good", "use": "sig", "alg": "RS256")") +
            ", " + RsaKey(key, R"("kid": "enc", "use": "enc")") + ", " +
            RsaKey(key, R"("kid": "ps", "alg": "PS256")") + ", " +
            RsaKey(key, R"("use": "sig")") +
            R"(, {"kty": "oct", "kid": "shared", "k": "AAAA"}, 7)"));
  ASSERT_THAT(parsed, IsOk());
  ASSERT_EQ(parsed->size(), 1u);
  EXPECT_EQ(parsed->begin()->first, "good");
  const auto is_invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ParseKeySet("").status(), is_invalid);
  EXPECT_THAT(ParseKeySet(R"({"keys": []})").status(), is_invalid);
  EXPECT_THAT(ParseKeySet(R"({"keys": {}})").status(), is_invalid);
}

}  // namespace
}  // namespace ordo::services::auth
