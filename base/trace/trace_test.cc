#include "base/trace/trace.h"

#include <string>

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

constexpr char kParent[] =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(TraceTest, AParentStaysAsItIs) {
  EXPECT_EQ(ParseTraceParent(kParent), kParent);
  EXPECT_EQ(TraceIdOf(ParseTraceParent(kParent)), kTraceId);
  const std::string not_sampled = std::string(kParent, 53) + "00";
  EXPECT_EQ(ParseTraceParent(not_sampled), not_sampled);
}

TEST(TraceTest, NoFlagButSampledIsHandedOn) {
  EXPECT_EQ(ParseTraceParent(std::string(kParent, 53) + "ff"), kParent);
  EXPECT_EQ(ParseTraceParent(std::string(kParent, 53) + "fe"),
            std::string(kParent, 53) + "00");
}

TEST(TraceTest, OfALaterVersionWhatThisOneKnowsIsTaken) {
  const std::string later = "cc" + std::string(kParent).substr(2);
  EXPECT_EQ(ParseTraceParent(later), kParent);
  EXPECT_EQ(ParseTraceParent(later + "-what-will-be"), kParent);
  EXPECT_EQ(ParseTraceParent(later + ".what-will-be"), "");
}

TEST(TraceTest, WhatIsMalformedIsNone) {
  for (const std::string& text : {
           std::string(),
           std::string("00"),
           std::string(kParent, 54),
           std::string(kParent) + "-",
           std::string(kParent) + "-00",
           std::string(kParent) + " ",
           " " + std::string(kParent),
           "ff" + std::string(kParent).substr(2),
           "0g" + std::string(kParent).substr(2),
           std::string("00_") + std::string(kParent).substr(3),
           std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-"
                       "00f067aa0ba902b7-01"),
           std::string("00-00000000000000000000000000000000-"
                       "00f067aa0ba902b7-01"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-"
                       "0000000000000000-01"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-"
                       "00f067aa0ba902b7-0x"),
       }) {
    EXPECT_EQ(ParseTraceParent(text), "") << text;
  }
  EXPECT_EQ(TraceIdOf(""), "");
}

TEST(TraceTest, ANewOneIsMadeOfRandomBytes) {
  std::string random(kTraceRandomBytes, '\x0a');
  EXPECT_EQ(MakeTraceParent(random),
            "00-0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a-0a0a0a0a0a0a0a0a-01");
  EXPECT_EQ(MakeTraceParent("short"), "");
  EXPECT_EQ(MakeTraceParent(std::string(kTraceRandomBytes, '\0')), "");
}

TEST(TraceTest, PackedItComesBackAsItWas) {
  const std::string not_sampled = std::string(kParent, 53) + "00";
  for (const std::string& parent : {std::string(kParent), not_sampled}) {
    const std::string bytes = PackTraceParent(parent);
    EXPECT_EQ(bytes.size(), 25u);
    EXPECT_EQ(UnpackTraceParent(bytes), parent);
  }
  EXPECT_EQ(PackTraceParent(""), "");
  EXPECT_EQ(UnpackTraceParent(""), "");
}

}  // namespace
}  // namespace ordo::base
