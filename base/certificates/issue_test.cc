#include "base/certificates/issue.h"

#include <string>

#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509_vfy.h>

#include "base/certificates/certificate.h"
#include "base/certificates/openssl.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);
const Validity kYear = {kNow, absl::Hours(24 * 365)};

// What OpenSSL says of a certificate for `purpose` under an authority; "ok".
std::string Verify(const std::string& authority, const std::string& certificate,
                   int purpose) {
  const auto root = certificates::ParseCertificate(authority).value();
  const auto leaf = certificates::ParseCertificate(certificate).value();
  X509_STORE* const store = X509_STORE_new();
  X509_STORE_add_cert(store, root.get());
  X509_STORE_CTX* const context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, store, leaf.get(), nullptr);
  X509_STORE_CTX_set_purpose(context, purpose);
  X509_STORE_CTX_set_time(context, 0, absl::ToTimeT(kNow + absl::Hours(1)));
  X509_verify_cert(context);
  const std::string said =
      X509_verify_cert_error_string(X509_STORE_CTX_get_error(context));
  X509_STORE_CTX_free(context);
  X509_STORE_free(store);
  return said;
}

KeyedCertificate AuthorityOf(const std::string& name) {
  return NewAuthority(name, kYear).value();
}

TEST(IssueTest, WhatIsIssuedIsForServersAndClients) {
  const KeyedCertificate authority = AuthorityOf("a");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto issued,
      Issue(authority, {"scheduler", kSchedulerUri, {"localhost"}}, kYear));
  ORDO_EXPECT_OK(CheckKeyOf(issued.certificate, issued.key));
  for (const int purpose : {X509_PURPOSE_SSL_SERVER, X509_PURPOSE_SSL_CLIENT}) {
    EXPECT_EQ(Verify(authority.certificate, issued.certificate, purpose), "ok");
  }
  EXPECT_NE(Verify(AuthorityOf("a").certificate, issued.certificate,
                   X509_PURPOSE_SSL_SERVER),
            "ok");
}

TEST(IssueTest, WhatIsIssuedSignsNothing) {
  const KeyedCertificate authority = AuthorityOf("a");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto issued,
      Issue(authority, {"w", std::string(kWorkerUriPrefix) + "w"}, kYear));
  EXPECT_THAT(Issue(issued, {"x", kSchedulerUri}, kYear),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not one of an authority")));
}

TEST(IssueTest, ARequestIsSignedForTheNamesOfTheSigner) {
  const KeyedCertificate authority = AuthorityOf("a");
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string key, NewKey());
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string request, SigningRequest(key));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string signed_text,
      SignRequest(request, authority, {"node-1", "ordo:worker/node-1"}, kYear));
  ORDO_EXPECT_OK(CheckKeyOf(signed_text, key));
  ORDO_ASSERT_OK_AND_ASSIGN(const Certificate says,
                            ReadCertificate(signed_text));
  EXPECT_THAT(says.uri_names, ElementsAre("ordo:worker/node-1"));
  EXPECT_THAT(says.hosts, IsEmpty());
}

TEST(IssueTest, AWorkersCertificateNamesNoHostButItsOwnMachine) {
  const CertificateNames names = WorkerNames("node-1");
  EXPECT_EQ(names.common_name, "node-1");
  EXPECT_EQ(names.uri_name, "ordo:worker/node-1");
  EXPECT_THAT(names.hosts, ElementsAre("worker.ordo.internal", "localhost",
                                       "127.0.0.1", "::1"));
}

TEST(IssueTest, ACertificateEndsWithItsAuthority) {
  const KeyedCertificate authority = AuthorityOf("a");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto issued, Issue(authority, {"w", ""},
                                                     {kNow - absl::Hours(1),
                                                      absl::Hours(24 * 3650)}));
  ORDO_ASSERT_OK_AND_ASSIGN(const Certificate says,
                            ReadCertificate(issued.certificate));
  EXPECT_EQ(says.not_before, kNow);
  EXPECT_EQ(says.not_after, kNow + kYear.length);
}

TEST(IssueTest, AnExpiredAuthoritySignsNothing) {
  EXPECT_THAT(
      Issue(AuthorityOf("a"), {"w", ""},
            {kNow + 2 * kYear.length, absl::Hours(1)}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("expired on")));
}

TEST(IssueTest, AnAuthorityNeedsItsOwnKey) {
  KeyedCertificate mixed = AuthorityOf("a");
  mixed.key = AuthorityOf("b").key;
  EXPECT_THAT(Issue(mixed, {"w", ""}, kYear),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another certificate")));
}

TEST(IssueTest, NamesThatAreNoneAreRefused) {
  const KeyedCertificate authority = AuthorityOf("a");
  for (const CertificateNames& names :
       {CertificateNames{"", ""}, CertificateNames{std::string(65, 'a'), ""},
        CertificateNames{"a", "ordo:user/a b"},
        CertificateNames{"a", "ordo:user/\n"},
        CertificateNames{"a", "", {"http://host"}},
        CertificateNames{"a", "", {"host:7420"}},
        CertificateNames{"a", "", {"a,URI:ordo:scheduler"}},
        CertificateNames{"a", "", {""}}}) {
    EXPECT_THAT(Issue(authority, names, kYear),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(IssueTest, ADamagedRequestIsRefused) {
  const KeyedCertificate authority = AuthorityOf("a");
  EXPECT_THAT(SignRequest("hello", authority, {"a", ""}, kYear),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("CERTIFICATE REQUEST")));
}

// A request that claims the key of somebody else.
std::string StolenRequest() {
  const auto key = certificates::ParseKey(NewKey().value()).value();
  const auto other = certificates::ParseKey(NewKey().value()).value();
  const certificates::Owned<X509_REQ> request(X509_REQ_new());
  X509_REQ_set_pubkey(request.get(), key.get());
  X509_REQ_sign(request.get(), other.get(), EVP_sha256());
  const certificates::Owned<BIO> writer(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509_REQ(writer.get(), request.get());
  return certificates::TextOf(*writer);
}

TEST(IssueTest, ARequestIsSignedByItsOwnKey) {
  EXPECT_THAT(SignRequest(StolenRequest(), AuthorityOf("a"), {"a", ""}, kYear),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not signed by its own key")));
}

TEST(IssueTest, AWeakKeyIsRefused) {
  const certificates::Owned<EVP_PKEY> key(EVP_RSA_gen(1024));
  const certificates::Owned<BIO> writer(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(writer.get(), key.get(), nullptr, nullptr, 0,
                                nullptr, nullptr);
  ORDO_ASSERT_OK_AND_ASSIGN(const std::string request,
                            SigningRequest(certificates::TextOf(*writer)));
  EXPECT_THAT(SignRequest(request, AuthorityOf("a"), {"a", ""}, kYear),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("RSA of 2048 bits")));
}

}  // namespace
}  // namespace ordo::base
