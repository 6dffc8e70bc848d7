#include "kernels/attention/check/case.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/check/problems.h"

namespace ordo::kernels::attention::check {
namespace {

using ::testing::HasSubstr;
using Pass = std::function<void(const Call& call, const Resources& resources)>;

constexpr int64_t kWorkspace = 64;

Problem Small() {
  Problem problem = Plain(5, 8);
  problem.padded = true;
  return problem;
}

// What is said of a kernel that does no more than that backward.
std::string Said(const Pass& pass) {
  Kernel kernel;
  kernel.name = "wrong";
  kernel.workspace_bytes = [](const Problem& /*problem*/, Way /*way*/,
                              int /*threads*/) { return kWorkspace; };
  kernel.forward = [](const Call& /*call*/, const Resources& /*resources*/) {
    return absl::OkStatus();
  };
  kernel.backward = [&](const Call& call, const Resources& resources) {
    pass(call, resources);
    return absl::OkStatus();
  };
  Tensors tensors = MakeTensors(Small(), 1);
  return RunKernel(Small(), kernel, RunOptions(), &tensors);
}

float* Floats(const View& view) { return static_cast<float*>(view.data); }

// Behind the last element of a tensor's last row.
float* EndOf(const View& view, const Shape& shape) {
  return Floats(view) + (shape.batch - 1) * view.batch_stride +
         (shape.heads - 1) * view.head_stride +
         (shape.tokens - 1) * view.token_stride + shape.width;
}

TEST(RunKernelTest, AKernelThatKeepsToItsOutputsIsNotAccused) {
  EXPECT_EQ(Said([](const Call& call, const Resources& resources) {
              *Floats(call.outputs[kMixed]) = 1;
              *Floats(call.d_inputs[kK]) = 1;
              call.lse_BHT[0] = 1;
              memset(resources.workspace, 0, kWorkspace);
            }),
            "");
}

TEST(RunKernelTest, WhatIsWrittenBetweenRowsIsNamed) {
  for (const Input input : {kQ, kK, kValue}) {
    const std::string said = Said([&](const Call& call, const Resources&) {
      const View& view = call.d_inputs[input];
      const Shape shape = ShapeOf(call.problem, input);
      Floats(view)[(shape.heads - 1) * view.head_stride + shape.width] = 0;
    });
    EXPECT_THAT(said, HasSubstr(std::string("around: d ") + NameOf(input)));
  }
  EXPECT_THAT(Said([](const Call& call, const Resources&) {
                const View& view = call.outputs[kMixed];
                const Shape shape = ShapeOf(call.problem, kMixed);
                Floats(view)[shape.heads * shape.width] = 0;
              }),
              HasSubstr("around: mixed 0"));
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

TEST(RunKernelTest, WhatIsWrittenBeforeAndBehindATensorIsNamed) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer ends it";
  EXPECT_THAT(Said([](const Call& call, const Resources&) {
                Floats(call.outputs[kMixed])[-1] = 0;
              }),
              HasSubstr("around: mixed 0"));
  EXPECT_THAT(Said([](const Call& call, const Resources&) {
                *EndOf(call.d_inputs[kK], ShapeOf(call.problem, kK)) = 0;
              }),
              HasSubstr("around: d k"));
  EXPECT_THAT(Said([](const Call& call, const Resources&) {
                const Problem& p = call.problem;
                call.lse_BHT[p.batch * p.heads * p.queries] = 0;
              }),
              HasSubstr("around: lse"));
}

TEST(RunKernelTest, WhatIsWrittenAroundTheWorkspaceIsNamed) {
  for (const int64_t at : {int64_t{-1}, kWorkspace}) {
    EXPECT_THAT(Said([&](const Call&, const Resources& resources) {
                  static_cast<char*>(resources.workspace)[at] = 0;
                }),
                HasSubstr("the backward pass' workspace"));
  }
}

TEST(RunKernelTest, WhatIsOnlyToBeReadAndHasChangedIsNamed) {
  const std::string changed = "what is only to be read has changed: ";
  EXPECT_THAT(Said([](const Call& call, const Resources&) {
                ++*Floats(call.inputs[kValue]);
              }),
              HasSubstr(changed + "value 0"));
  EXPECT_THAT(Said([](const Call& call, const Resources&) {
                ++*Floats(call.d_outputs[kMixed]);
              }),
              HasSubstr(changed + "d mixed 0"));
  EXPECT_THAT(Said([](const Call& call, const Resources&) {
                *const_cast<uint8_t*>(call.facts.real_BS) ^= 1;
              }),
              HasSubstr(changed + "padding"));
}

TEST(RunKernelTest, WhatAKernelDoesNotWriteIsNoNumber) {
  Tensors tensors = MakeTensors(Small(), 1);
  Kernel idle;
  idle.workspace_bytes = [](const Problem& /*problem*/, Way /*way*/,
                            int /*threads*/) { return kWorkspace; };
  idle.forward =
      idle.backward = [](const Call& /*call*/, const Resources& /*resources*/) {
        return absl::OkStatus();
      };
  ASSERT_EQ(RunKernel(Small(), idle, RunOptions(), &tensors), "");
  for (const Input input : {kQ, kK, kValue}) {
    for (const double x : tensors.d_inputs[input]) EXPECT_TRUE(std::isnan(x));
  }
  for (const double x : tensors.outputs[kMixed]) EXPECT_TRUE(std::isnan(x));
}

// Finite differences would compare nothing with nothing.
TEST(MakeTensorsTest, NoGradientOfAnOutputIsZero) {
  Problem problem = Plain(5, 8);
  problem.num_values = kMaxValues;
  problem.values[1] = problem.values[2] = problem.values[0];
  problem.reach = 4;
  problem.summed = true;
  const Tensors tensors = MakeTensors(problem, 1);
  for (const auto& d_output : tensors.d_outputs) {
    EXPECT_FALSE(d_output.empty());
    for (const double x : d_output) EXPECT_NE(x, 0);
  }
}

}  // namespace
}  // namespace ordo::kernels::attention::check
