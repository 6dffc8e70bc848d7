#include "services/cli/commands/request_paths.h"

#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

std::string Told(const std::string& text) {
  return WithSources(text, {{"a", "x.yaml document 1"}, {"b", "y.json"}});
}

TEST(WithSourcesTest, EveryRequestIsNamedByItsFile) {
  EXPECT_EQ(Told("requests[1].job.spec.name"), "y.json: name");
  EXPECT_EQ(Told("'a' is that of requests[0].job.spec.name too"),
            "'a' is that of x.yaml document 1: name too");
  EXPECT_EQ(Told("requests[1]: there is a job b already"),
            "y.json: there is a job b already");
  EXPECT_EQ(Told("requests[0].request_id and requests[1].request_id"),
            "x.yaml document 1: request_id and y.json: request_id");
  EXPECT_EQ(Told("requests[1]"), "y.json");
}

TEST(WithSourcesTest, AJobOfTheRequestIsNamedByItsFile) {
  EXPECT_EQ(Told("jobs/b: needs[0].job: there is no job c"),
            "y.json: needs[0].job: there is no job c");
}

TEST(WithSourcesTest, WhatIsNoneStays) {
  for (const char* text : {"", "requests[", "requests[2].job", "requests[x]",
                           "jobs/c: gone", "needs jobs/b: gone", "name"}) {
    EXPECT_EQ(Told(text), text);
  }
}

}  // namespace
}  // namespace ordo::services::cli
