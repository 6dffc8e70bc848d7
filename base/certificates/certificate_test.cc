#include "base/certificates/certificate.h"

#include <string>

#include "base/certificates/issue.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

KeyedCertificate AuthorityOf(const std::string& name) {
  return NewAuthority(name, {kNow, absl::Hours(48)}).value();
}

TEST(CertificateTest, SaysWhoseItIsAndWhenItHolds) {
  const KeyedCertificate authority = AuthorityOf("test");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const KeyedCertificate issued,
      Issue(authority,
            {"scheduler", kSchedulerUri, {"ordo.example", "10.0.0.7", "::1"}},
            {kNow, absl::Hours(24)}));
  ORDO_ASSERT_OK_AND_ASSIGN(const Certificate says,
                            ReadCertificate(issued.certificate));
  EXPECT_EQ(says.common_name, "scheduler");
  EXPECT_THAT(says.uri_names, ElementsAre("ordo:scheduler"));
  EXPECT_THAT(says.hosts, ElementsAre("ordo.example", "10.0.0.7", "::1"));
  EXPECT_EQ(says.not_before, kNow);
  EXPECT_EQ(says.not_after, kNow + absl::Hours(24));
}

TEST(CertificateTest, AFileMayHoldSeveralAndAKey) {
  const KeyedCertificate one = AuthorityOf("one");
  const KeyedCertificate two = AuthorityOf("two");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto both,
      ReadCertificates(one.key + one.certificate + "\n" + two.certificate));
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[0].common_name, "one");
  EXPECT_EQ(both[1].common_name, "two");
}

TEST(CertificateTest, WhatIsNoneIsAnError) {
  EXPECT_THAT(ReadCertificate(""), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("BEGIN CERTIFICATE")));
  EXPECT_THAT(ReadCertificates("hello"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CertificateTest, DamageAfterTheFirstIsAnError) {
  const std::string whole = AuthorityOf("one").certificate;
  std::string damaged = whole;
  damaged.replace(damaged.size() / 2, 4, "!!!!");
  EXPECT_THAT(ReadCertificates(whole + damaged),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("after the first 1 is damaged")));
}

TEST(CertificateTest, AKeyIsThatOfItsCertificateOnly) {
  const KeyedCertificate one = AuthorityOf("one");
  const KeyedCertificate two = AuthorityOf("two");
  ORDO_EXPECT_OK(CheckKeyOf(one.certificate, one.key));
  EXPECT_THAT(CheckKeyOf(one.certificate, two.key),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("another certificate")));
  EXPECT_THAT(CheckKeyOf(one.certificate, one.certificate),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no PEM private key")));
}

TEST(CertificateTest, HoldsFromItsBeginningToItsEnd) {
  Certificate certificate;
  certificate.not_before = kNow;
  certificate.not_after = kNow + absl::Hours(1);
  ORDO_EXPECT_OK(CheckTimeOf(certificate, kNow));
  ORDO_EXPECT_OK(CheckTimeOf(certificate, kNow + absl::Hours(1)));
  EXPECT_THAT(CheckTimeOf(certificate, kNow - absl::Seconds(1)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("only from 2027-01-15")));
  EXPECT_THAT(CheckTimeOf(certificate, kNow + absl::Hours(2)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("expired on 2027-01-15")));
}

}  // namespace
}  // namespace ordo::base
