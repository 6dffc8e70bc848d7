#include "model/catalog/kernel_choice.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/attention_classes.h"
#include "model/catalog/resolve_model.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

v1::Component Encoding(const std::string& name,
                       const std::vector<v1::Component>& with = {}) {
  v1::Component encoding;
  encoding.set_name(name);
  for (const v1::Component& other : with) *encoding.add_with() = other;
  return encoding;
}

class KernelChoiceTest : public ::testing::Test {
 protected:
  KernelChoiceTest() {
    Violations none;
    ResolveModel("model", 0, &model_, &none);
  }

  AttentionUse Use(const v1::Component& encoding, const std::string& device,
                   const std::string& precision,
                   const std::string& kernel = "") {
    encoding_ = encoding;
    Violations violations;
    ResolveComponent(Kind::kEncoding, "encoding", &encoding_, &violations);
    EXPECT_THAT(violations, IsEmpty());
    return {&model_, &encoding_, device, precision, kernel};
  }

  // What is wrong with the kernel that a use names.
  static std::string Wrong(const AttentionUse& use) {
    Violations violations;
    CheckKernel("training.kernel", use, &violations);
    if (violations.empty()) return "";
    EXPECT_EQ(violations[0].field, "training.kernel");
    return violations[0].description;
  }

  v1::Model model_;
  v1::Component encoding_;
};

TEST_F(KernelChoiceTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(
      Wrong(Use(Encoding("rope"), "cpu", "fp32", "cpu_tilde")),
      AllOf(HasSubstr("must be one of cpu_pairs_amx, "),
            HasSubstr(", cpu_tiled_avx512, cpu_tiled_avx2, cpu_tiled, "),
            HasSubstr(", cuda_tiled, cuda_counted, reference, is 'cpu_tilde'"),
            HasSubstr("did you mean 'cpu_tiled'")));
}

TEST_F(KernelChoiceTest, AKernelIsRefusedForWhatItDoesNotDo) {
  EXPECT_EQ(Wrong(Use(Encoding("rope"), "cpu", "bf16", "cpu_tiled")), "");
  EXPECT_EQ(Wrong(Use(Encoding("rope"), "cpu", "fp32", "cpu_tiled_avx2")), "");
  EXPECT_EQ(Wrong(Use(Encoding("cope"), "cpu", "bf16", "reference")), "");
  EXPECT_THAT(Wrong(Use(Encoding("cope"), "cpu", "fp32", "cpu_tiled")),
              HasSubstr("it does not do cope (positions counted by gates of "
                        "the logits, 64 of them), which cpu_counted_avx512, "
                        "cpu_counted_avx2, cpu_counted, cuda_counted do"));
  EXPECT_THAT(Wrong(Use(Encoding("rope"), "cpu", "fp32", "cpu_counted")),
              HasSubstr("does not do rope"));
  EXPECT_THAT(Wrong(Use(Encoding("rope"), "cpu", "bf16", "cuda_tiled")),
              AllOf(HasSubstr("it is one for cuda, and resources.device is "
                              "cpu"),
                    HasSubstr("or set resources.device to cuda")));
  EXPECT_THAT(Wrong(Use(Encoding("rope"), "cuda", "fp32", "cuda_tiled")),
              HasSubstr("it computes in bf16, and this is in fp32"));
  model_.set_head_width(256);
  EXPECT_THAT(Wrong(Use(Encoding("rope"), "cuda", "bf16", "cuda_tiled")),
              HasSubstr("model.head_width is 256"));
}

// docs/encodings.md and `ordo list encodings` have them.
TEST_F(KernelChoiceTest, TheKernelsThatAnEncodingListsMayBeNamed) {
  for (const Entry* entry : EntriesOf(Kind::kEncoding)) {
    for (const std::string& name : entry->encoding.kernels) {
      EXPECT_THAT(Wrong({nullptr, nullptr, "cpu", "bf16", name}),
                  ::testing::Not(HasSubstr("must be one of")))
          << entry->name;
    }
  }
}

TEST_F(KernelChoiceTest, EncodingsTogetherNeedAKernelThatDoesBoth) {
  EXPECT_EQ(Wrong(Use(Encoding("cope", {Encoding("rope")}), "cpu", "fp32",
                      "cpu_counted")),
            "");
  EXPECT_EQ(Wrong(Use(Encoding("rope", {Encoding("alibi")}), "cpu", "fp32",
                      "cpu_tiled")),
            "");
  // Each layer is one's own, and the kernel is that of all.
  EXPECT_THAT(
      Wrong(Use(Encoding("per_layer", {Encoding("rope"), Encoding("cope")}),
                "cpu", "fp32", "cpu_tiled")),
      HasSubstr("does not do cope"));
}

TEST_F(KernelChoiceTest, WhatIsNotKnownYetIsNotRefused) {
  EXPECT_EQ(Wrong({nullptr, nullptr, "cpu", "fp32", "cpu_counted"}), "");
  EXPECT_NE(Wrong({nullptr, nullptr, "cuda", "fp32", "cpu_counted"}), "");
}

TEST_F(KernelChoiceTest, NoKernelIsToldWithTheReasonAndTheSlowdown) {
  EXPECT_EQ(SlowdownNotice("training", Use(Encoding("cope"), "cpu", "fp32")),
            "");
  EXPECT_EQ(SlowdownNotice("training", Use(Encoding("cope"), "cuda", "bf16")),
            "");
  EXPECT_EQ(SlowdownNotice(
                "training",
                Use(Encoding("per_layer", {Encoding("cope"), Encoding("rope")}),
                    "cpu", "bf16")),
            "");
  EXPECT_THAT(
      SlowdownNotice("training", Use(Encoding("huang3"), "cuda", "bf16")),
      AllOf(HasSubstr("training under huang3 takes plain operations"),
            HasSubstr("q and k are weighed channel by channel"),
            ::testing::ContainsRegex("about [0-9]+\\.[0-9] times as long")));
  EXPECT_THAT(
      SlowdownNotice("evaluation", Use(Encoding("rope"), "cuda", "fp32")),
      HasSubstr("it computes in bf16, and this is in fp32"));
  EXPECT_THAT(SlowdownNotice("training",
                             Use(Encoding("rope"), "cpu", "fp32", "reference")),
              HasSubstr("as asked for"));
  const auto drawn = Encoding("random_positions", {Encoding("shaw")});
  EXPECT_THAT(SlowdownNotice("training", Use(drawn, "cuda", "bf16")),
              HasSubstr("do not lie on a tile's diagonals"));
  EXPECT_EQ(SlowdownNotice("training", Use(drawn, "cpu", "bf16")), "");
}

TEST_F(KernelChoiceTest, APrecisionThatHasAKernelIsNamed) {
  AttentionUse use = Use(Encoding("rope"), "cuda", "fp32");
  use.is_training = true;
  EXPECT_THAT(SlowdownNotice("training", use),
              HasSubstr("; with training.precision: bf16 there is a kernel"));
  // What evaluations compute in is not the recipe's.
  use.is_training = false;
  EXPECT_THAT(SlowdownNotice("evaluation", use),
              ::testing::Not(HasSubstr("precision: bf16")));
  use = Use(Encoding("huang3"), "cuda", "fp32");
  use.is_training = true;
  EXPECT_THAT(SlowdownNotice("training", use),
              ::testing::Not(HasSubstr("precision: bf16")));
  use = Use(Encoding("rope"), "cuda", "fp32", "reference");
  use.is_training = true;
  EXPECT_THAT(SlowdownNotice("training", use),
              ::testing::Not(HasSubstr("precision: bf16")));
}

TEST_F(KernelChoiceTest, PositionIdsTakeAGpusKernelThatReadsNumbersByThem) {
  const auto drawn = Encoding("random_positions", {Encoding("alibi")});
  EXPECT_EQ(SlowdownNotice("training", Use(drawn, "cuda", "bf16")), "");
  EXPECT_EQ(Wrong(Use(drawn, "cuda", "bf16", "cuda_tiled")), "");
  EXPECT_THAT(Wrong(Use(drawn, "cuda", "bf16", "cuda_hopper")),
              HasSubstr("do not lie on a tile's diagonals"));
}

TEST_F(KernelChoiceTest, AFormThatNoKernelDoesIsTold) {
  v1::Component cope = Encoding("cope");
  (*cope.mutable_params())["form"].set_string_value("mlp");
  EXPECT_THAT(SlowdownNotice("training", Use(cope, "cpu", "fp32")),
              AllOf(HasSubstr("no kernel does cope with form: mlp"),
                    ::testing::Not(HasSubstr("form: table"))));
  EXPECT_NE(Wrong(Use(cope, "cuda", "bf16", "cuda_counted")), "");
  (*cope.mutable_params())["form"].set_string_value("alibi");
  EXPECT_EQ(SlowdownNotice("training", Use(cope, "cpu", "fp32")), "");
}

TEST_F(KernelChoiceTest, AWindowOnBothSidesHasNoKernel) {
  model_.set_causal(false);
  EXPECT_EQ(SlowdownNotice("training", Use(Encoding("rope"), "cpu", "fp32")),
            "");
  model_.set_sliding_window(8);
  EXPECT_THAT(SlowdownNotice("training", Use(Encoding("rope"), "cpu", "fp32")),
              HasSubstr("model.sliding_window"));
}

TEST_F(KernelChoiceTest, SegmentsHaveNoKernelInTrainingAlone) {
  v1::Component segments = Encoding("transformer_xl");
  AttentionUse use = Use(segments, "cpu", "fp32", "cpu_tiled");
  use.is_training = true;
  EXPECT_EQ(Wrong(use), "");
  EXPECT_EQ(SlowdownNotice("training", use), "");
  (*segments.mutable_params())["segment_length"].set_number_value(4);
  use = Use(segments, "cpu", "fp32", "cpu_tiled");
  EXPECT_EQ(Wrong(use), "");
  EXPECT_EQ(SlowdownNotice("evaluation", use), "");
  use.is_training = true;
  EXPECT_THAT(Wrong(use), HasSubstr("earlier segments pass on no gradient"));
  EXPECT_THAT(SlowdownNotice("training", use),
              HasSubstr("as no kernel for cpu does it: in training, keys of "
                        "earlier segments pass on no gradient"));
  // The steps of a recipe are training, its evaluations are not.
  v1::Training training;
  training.set_precision("fp32");
  training.set_kernel("cpu_tiled");
  google::protobuf::RepeatedPtrField<v1::Evaluation> evaluations;
  evaluations.Add()->set_kernel("cpu_tiled");
  const KernelContext context = {&model_, &segments, "cpu"};
  Violations violations;
  CheckTrainingKernel(context, training, &violations);
  CheckEvaluationKernels(context, evaluations, &violations);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].field, "training.kernel");
}

TEST_F(KernelChoiceTest, ParametersThatNoKernelDoesAreRefusedAndToldOf) {
  const auto expect_plain = [&](const v1::Component& encoding,
                                const std::string& kernel,
                                const std::string& why) {
    EXPECT_THAT(Wrong(Use(encoding, "cpu", "fp32", kernel)),
                AllOf(HasSubstr(kernel + " cannot be taken: no kernel does "),
                      HasSubstr(why), HasSubstr("; leave it out")));
    for (const char* const device : {"cpu", "cuda"}) {
      EXPECT_THAT(
          SlowdownNotice("training", Use(encoding, device, "bf16")),
          AllOf(HasSubstr(why), ::testing::ContainsRegex(
                                    "about [0-9]+\\.[0-9] times as long")));
    }
  };
  v1::Component cope = Encoding("cope");
  (*cope.mutable_params())["form"].set_string_value("alibi");
  EXPECT_EQ(Wrong(Use(cope, "cpu", "fp32", "cpu_counted")), "");
  (*cope.mutable_params())["form"].set_string_value("mlp");
  expect_plain(cope, "cpu_counted", "cope with form: mlp");
  expect_plain(Encoding("per_layer", {cope, Encoding("rope")}), "cpu_counted",
               "cope with form: mlp");
  expect_plain(Encoding("rope", {cope}), "cpu_counted", "cope with form: mlp");
  (*cope.mutable_params())["form"].set_string_value("table");
  (*cope.mutable_params())["max_position"].set_number_value(1026);
  expect_plain(cope, "cpu_counted",
               "no kernel does cope with form: table and a max_position above "
               "1025");
  (*cope.mutable_params())["max_position"].set_number_value(1025);
  EXPECT_EQ(Wrong(Use(cope, "cpu", "fp32", "cpu_counted")), "");
  EXPECT_EQ(SlowdownNotice("training", Use(cope, "cpu", "fp32")), "");

  v1::Component shaw = Encoding("shaw");
  auto& params = *shaw.mutable_params();
  params["max_distance"].set_number_value(1025);
  EXPECT_EQ(Wrong(Use(shaw, "cpu", "fp32", "cpu_tiled")), "");
  params["values"].set_bool_value(true);
  expect_plain(shaw, "cpu_tiled", "shaw with values: true");
  params["max_distance"].set_number_value(1024);
  EXPECT_EQ(Wrong(Use(shaw, "cpu", "fp32", "cpu_tiled")), "");
  EXPECT_EQ(SlowdownNotice("training", Use(shaw, "cpu", "fp32")), "");
  params["unseen"].set_string_value("none");
  expect_plain(shaw, "cpu_tiled", "shaw with values: true");
}

TEST_F(KernelChoiceTest, NearAndFarKeysNeedTheCausalMask) {
  for (const char* const name : {"rerope", "leaky_rerope"}) {
    model_.set_causal(true);
    EXPECT_EQ(Wrong(Use(Encoding(name), "cpu", "fp32", "cpu_tiled")), "");
    model_.set_causal(false);
    EXPECT_THAT(Wrong(Use(Encoding(name), "cpu", "fp32", "cpu_tiled")),
                HasSubstr("model.causal is false"));
    EXPECT_THAT(SlowdownNotice("training", Use(Encoding(name), "cpu", "fp32")),
                HasSubstr("model.causal is false"));
  }
}

TEST_F(KernelChoiceTest, FarKeysBesideAnotherTermOfDistancesTakeAnotherKernel) {
  model_.set_head_width(64);
  const v1::Component rerope = Encoding("rerope");
  EXPECT_EQ(Wrong(Use(rerope, "cuda", "bf16", "cuda_hopper")), "");
  const v1::Component both = Encoding("rerope", {Encoding("alibi")});
  EXPECT_THAT(Wrong(Use(both, "cuda", "bf16", "cuda_hopper")),
              HasSubstr("beside no other term of distances, and rerope with "
                        "alibi has more of them"));
  EXPECT_EQ(Wrong(Use(both, "cuda", "bf16", "cuda_tiled")), "");
  EXPECT_EQ(SlowdownNotice("training", Use(both, "cuda", "bf16")), "");
}

// Of q and k, of the kernel of that name.
int WidestOf(const std::vector<AttentionKernel>& kernels,
             const std::string& name) {
  for (const AttentionKernel& kernel : kernels) {
    if (kernel.name == name) return kernel.max_head_width;
  }
  return 0;
}

TEST(AttentionKernelsTest, AreAsWideAsTheLibraryIsBuiltFor) {
  const auto usual = AttentionKernelsOf(false), all = AttentionKernelsOf(true);
  EXPECT_EQ(WidestOf(usual, "cuda_tiled"), 128);
  EXPECT_EQ(WidestOf(all, "cuda_tiled"), 256);
  EXPECT_EQ(WidestOf(all, "cuda_hopper"), 128);
  EXPECT_EQ(WidestOf(all, "cuda_counted"), 128);
}

TEST_F(KernelChoiceTest, HeadsOf256TakeAKernelWhereItsLibraryHasIt) {
  model_.set_head_width(256);
  const std::string wrong =
      Wrong(Use(Encoding("rope"), "cuda", "bf16", "cuda_tiled"));
  if (WidestOf(AttentionKernels(), "cuda_tiled") >= 256) {
    EXPECT_EQ(wrong, "");
  } else {
    EXPECT_THAT(wrong, HasSubstr("its heads are at most 128 wide"));
  }
}

TEST_F(KernelChoiceTest, WhatIsTooLargeForAGpusKernelIsRefusedAndToldOf) {
  model_.set_head_width(64);
  const auto told = [&](const v1::Component& encoding) {
    return SlowdownNotice("training", Use(encoding, "cuda", "bf16"));
  };
  EXPECT_EQ(told(Encoding("tener")), "");
  EXPECT_EQ(Wrong(Use(Encoding("tape"), "cuda", "bf16", "cuda_hopper")), "");
  const int most = WidestOf(AttentionKernels(), "cuda_tiled");
  model_.set_head_width(most / 2 + 8);
  EXPECT_THAT(
      told(Encoding("tener")),
      AllOf(
          HasSubstr("its q and k are at most"),
          HasSubstr("and those of tener are " + std::to_string(most + 16) +
                    " with model.head_width " + std::to_string(most / 2 + 8))));
  EXPECT_EQ(SlowdownNotice("training", Use(Encoding("tener"), "cpu", "fp32")),
            "");
  model_.set_head_width(72);
  EXPECT_EQ(Wrong(Use(Encoding("tape"), "cuda", "bf16", "cuda_hopper")), "");
  // Each value takes whole tiles there.
  v1::Component halves = Encoding("tape");
  (*halves.mutable_params())["equivariant"].set_bool_value(false);
  EXPECT_THAT(Wrong(Use(halves, "cuda", "bf16", "cuda_hopper")),
              HasSubstr("its values are at most 256 wide together, and those "
                        "of tape take 320"));
  EXPECT_EQ(Wrong(Use(halves, "cuda", "bf16", "cuda_tiled")), "");
  model_.set_head_width(128);
  EXPECT_EQ(Wrong(Use(Encoding("rope"), "cuda", "bf16", "cuda_hopper")), "");
  EXPECT_EQ(Wrong(Use(Encoding("tape"), "cuda", "bf16", "cuda_tiled")), "");
  EXPECT_EQ(told(Encoding("tape")), "");
  v1::Component fire = Encoding("fire");
  (*fire.mutable_params())["mlp_width"].set_number_value(63);
  EXPECT_EQ(told(fire), "");
  EXPECT_EQ(Wrong(Use(fire, "cuda", "bf16", "cuda_hopper")), "");
  (*fire.mutable_params())["mlp_width"].set_number_value(64);
  EXPECT_THAT(Wrong(Use(fire, "cuda", "bf16", "cuda_hopper")),
              HasSubstr("at most 64 pieces, and fire has 65"));
  EXPECT_THAT(told(fire), HasSubstr("cuda_tiled: its functions of the distance "
                                    "have at most 64 pieces, and fire has 65"));
  EXPECT_EQ(SlowdownNotice("training", Use(fire, "cpu", "fp32")), "");
}

TEST_F(KernelChoiceTest, VectorsOfFewDistancesTakeTheKernelThatHasThoseAlone) {
  v1::Component shaw = Encoding("shaw");
  auto& params = *shaw.mutable_params();
  const auto expect_refused = [&] {
    EXPECT_THAT(Wrong(Use(shaw, "cuda", "bf16", "cuda_hopper")),
                HasSubstr("at queries alone, of at most 64 distances and under "
                          "the causal mask, and those of shaw are not"));
    EXPECT_EQ(Wrong(Use(shaw, "cuda", "bf16", "cuda_tiled")), "");
    EXPECT_EQ(SlowdownNotice("training", Use(shaw, "cuda", "bf16")), "");
  };
  params["max_distance"].set_number_value(63);
  EXPECT_EQ(Wrong(Use(shaw, "cuda", "bf16", "cuda_hopper")), "");
  params["unseen"].set_string_value("none");
  expect_refused();
  params["max_distance"].set_number_value(62);
  EXPECT_EQ(Wrong(Use(shaw, "cuda", "bf16", "cuda_hopper")), "");
  params["values"].set_bool_value(true);
  expect_refused();
  params["values"].set_bool_value(false);
  model_.set_causal(false);
  expect_refused();
}

TEST_F(KernelChoiceTest, ClampedDistancesTakeTheKernelOfFewVectors) {
  v1::Component encoding = Encoding("transformer_xl");
  auto& clamp = (*encoding.mutable_params())["clamp_length"];
  const auto wrong = [&](int distance) {
    clamp.set_number_value(distance);
    return Wrong(Use(encoding, "cuda", "bf16", "cuda_hopper"));
  };
  EXPECT_EQ(wrong(63), "");
  for (const int distance : {0, 64}) {
    EXPECT_THAT(wrong(distance),
                HasSubstr("of at most 64 distances and under the causal mask, "
                          "and those of transformer_xl are not"));
  }
}

TEST_F(KernelChoiceTest, AStateTakesWhatItsFormTakes) {
  const auto told = [&](const v1::Component& encoding) {
    return SlowdownNotice("training", Use(encoding, "cuda", "bf16"));
  };
  const auto wrong = [&](const v1::Component& encoding) {
    return Wrong(Use(encoding, "cuda", "bf16", "cuda_hopper"));
  };
  v1::Component halves = Encoding("tape"), vector = Encoding("tape"),
                rows = Encoding("tape"), blocks = Encoding("tape");
  (*halves.mutable_params())["equivariant"].set_bool_value(false);
  (*vector.mutable_params())["embedding"].set_string_value("vector");
  (*rows.mutable_params())["mix_axis"].set_string_value("L");
  (*blocks.mutable_params())["block_columns"].set_number_value(4);
  for (const v1::Component& wide : {halves, vector, rows}) {
    model_.set_head_width(64);
    EXPECT_EQ(wrong(wide), "");
    EXPECT_EQ(told(wide), "");
    model_.set_head_width(96);
    EXPECT_THAT(wrong(wide),
                HasSubstr("its values are at most 256 wide together, and those "
                          "of tape take 320 with model.head_width 96"));
    EXPECT_THAT(told(wide),
                HasSubstr("cuda_tiled: its values are at most 256 wide "
                          "together, and those of tape take 288"));
    EXPECT_EQ(SlowdownNotice("training", Use(wide, "cpu", "bf16")), "");
  }
  // They make q and k wider, too.
  EXPECT_THAT(told(blocks), HasSubstr("those of tape are 192"));
  model_.set_head_width(32);
  EXPECT_EQ(told(blocks), "");
  // Half of the channels turn, and have a state.
  v1::Component partial = Encoding("rope");
  (*partial.mutable_params())["partial"].set_number_value(0.5);
  model_.set_head_width(8);
  EXPECT_THAT(told(Encoding("tape", {partial})),
              HasSubstr("its values are a multiple of 8 wide, and one of tape "
                        "with rope is 4 with model.head_width 8"));
}

TEST_F(KernelChoiceTest, AStateThatAttentionDoesNotChangeTakesNothing) {
  model_.set_head_width(128);
  v1::Component tape = Encoding("tape");
  (*tape.mutable_params())["equivariant"].set_bool_value(false);
  EXPECT_NE(Wrong(Use(tape, "cuda", "bf16", "cuda_hopper")), "");
  const v1::Component updated = tape;
  (*tape.mutable_params())["attention_update"].set_bool_value(false);
  EXPECT_EQ(Wrong(Use(tape, "cuda", "bf16", "cuda_hopper")), "");
  model_.set_layers(1);
  EXPECT_EQ(Wrong(Use(updated, "cuda", "bf16", "cuda_hopper")), "");
}

TEST_F(KernelChoiceTest, EvaluationsTakeWhatTheDeviceComputesAndAreToldOnce) {
  v1::Training training;
  training.set_precision("fp32");
  google::protobuf::RepeatedPtrField<v1::Evaluation> evaluations;
  evaluations.Add();
  evaluations.Add();
  v1::Component encoding = Encoding("rope");
  const KernelContext context = {&model_, &encoding, "cuda"};
  std::vector<std::string> notices;
  AddEvaluationNotices(context, evaluations, &notices);
  EXPECT_THAT(notices, IsEmpty());
  encoding = Encoding("huang3");
  AddTrainingNotice(context, training, &notices);
  AddEvaluationNotices(context, evaluations, &notices);
  ASSERT_EQ(notices.size(), 2U);
  EXPECT_THAT(notices[0], HasSubstr("training under huang3"));
  EXPECT_THAT(notices[1], HasSubstr("evaluation under huang3"));
  evaluations[1].set_kernel("cuda_tiled");
  Violations violations;
  CheckEvaluationKernels(context, evaluations, &violations);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].field, "evaluations[1].kernel");
}

}  // namespace
}  // namespace ordo::model::catalog
