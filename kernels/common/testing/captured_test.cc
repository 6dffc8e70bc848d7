#include "kernels/common/testing/captured.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/common/testing/cuda_emulator.h"

namespace ordo::kernels::testing {
namespace {

struct Numbers {
  int* from;
  int* to;
  int added;
};

// To what is there, so that it shows how often it ran.
void Add(Numbers numbers) {
  if (ThreadId() == 0) *numbers.to += *numbers.from + numbers.added;
}

constexpr Grid kOneWarp = {1, 1, 1, 32, 0};

class CapturedTest : public ::testing::Test {
 protected:
  CapturedTest() {
    for (int* const number : {from_, to_}) *number = 3;
  }
  ~CapturedTest() override {
    for (int* const number : {from_, to_}) memory_.release(number);
  }

  absl::Status Run(
      const std::function<const char*(const Resources& resources)>& pass) {
    return RunCaptured(EmulatedGraphs(), Resources(),
                       [&](const Resources& resources) {
                         const char* const error = pass(resources);
                         return error == nullptr ? absl::OkStatus()
                                                 : absl::InternalError(error);
                       });
  }

  const DeviceMemory& memory_ = CountedMemory(HostMemory());
  int* const from_ = static_cast<int*>(memory_.allocate(sizeof(int)));
  int* const to_ = static_cast<int*>(memory_.allocate(sizeof(int)));
};

TEST_F(CapturedTest, APassRunsOnTheNumbersThatAreThereWhenItsGraphDoes) {
  EXPECT_EQ(
      Run([&](const Resources& resources) {
        return Launch(Add, kOneWarp, resources.stream, Numbers{from_, to_, 4});
      }),
      absl::OkStatus());
  EXPECT_EQ(*from_, 3);
  EXPECT_EQ(*to_, 3 + 3 + 4);
}

TEST_F(CapturedTest, APassThatLooksAtItsNumbersSeesOthers) {
  EXPECT_EQ(Run([&](const Resources& resources) {
              return Launch(Add, kOneWarp, resources.stream,
                            Numbers{from_, to_, *from_});
            }),
            absl::OkStatus());
  EXPECT_EQ(*to_, 3 + 3 + 0x5A5A5A5A);
}

TEST_F(CapturedTest, WorkOnAnotherStreamIsWrong) {
  const absl::Status status = Run([&](const Resources&) {
    return Launch(Add, kOneWarp, nullptr, Numbers{from_, to_, 4});
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("another stream"));
  EXPECT_EQ(*to_, 3);
}

TEST_F(CapturedTest, WhatGoesWrongInAGraphIsSaid) {
  const absl::Status status = Run([&](const Resources& resources) {
    return Launch(Add, {0, 1, 1, 32, 0}, resources.stream,
                  Numbers{from_, to_, 4});
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("blocks"));
}

}  // namespace
}  // namespace ordo::kernels::testing
