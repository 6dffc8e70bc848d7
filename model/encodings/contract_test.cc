#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/cross_entropy_loss.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/zeros_like.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "c10/util/Exception.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/table.h"
#include "kernels/torch/testing/recorder.h"
#include "kernels/torch/testing/witness.h"
#include "model/catalog/attention_classes.h"
#include "model/catalog/catalog.h"
#include "model/catalog/kernel_choice.h"
#include "model/encodings/registry.h"
#include "model/encodings/testing/examples.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"
#include "model/training/autocast.h"
#include "model/training/safetensors.h"

// What every encoding has to keep, run over the registry's rows and their
// variants (testing/examples.h): a new row is tested at once.

namespace ordo::model::encodings {
namespace {

using model::testing::GradientError;
using model::testing::Integers;
using model::testing::Logits;
using model::testing::Longs;
using model::testing::MakeTransformer;
using model::testing::MaxDifference;
using model::testing::Randomize;
using model::testing::SameBits;
using model::testing::SmallModel;
using ordo::training::v1::Component;
using ordo::training::v1::Model;
using testing::Example;
using ::testing::HasSubstr;
using transformer::Cache;
using transformer::ForwardOptions;
using transformer::Transformer;

constexpr int kVocabulary = 11;

// Whether `holds` does for an encoding and all that act beside it.
template <typename Predicate>
bool All(const Component& encoding, const Predicate& holds) {
  const auto* entry = catalog::Find(catalog::Kind::kEncoding, encoding.name());
  return holds(entry->encoding) &&
         std::all_of(encoding.with().begin(), encoding.with().end(),
                     [&](const Component& other) { return All(other, holds); });
}

// Compares gradients of a loss with finite differences, at a few values of each
// parameter.
void CheckGradients(const Example& example, const Transformer& transformer,
                    const at::Tensor& tokens) {
  const at::Tensor targets = Integers({tokens.numel()}, kVocabulary, "targets");
  const auto loss = [&] {
    return at::cross_entropy_loss(transformer.Forward(tokens).flatten(0, 1),
                                  targets);
  };
  loss().backward();
  const at::NoGradGuard no_grad;
  for (const auto& parameter : transformer.Parameters()) {
    at::Tensor gradient = parameter.tensor.grad();
    // No logit may read it, then.
    if (!gradient.defined()) gradient = at::zeros_like(parameter.tensor);
    // Where the gradient is largest, so that it is not an unused value.
    for (const int64_t index : {gradient.abs().argmax().item<int64_t>(),
                                parameter.tensor.numel() / 2}) {
      const double exact = gradient.flatten()[index].item<double>();
      at::Tensor value = parameter.tensor.flatten()[index];
      value.add_(1e-6);
      const double above = loss().item<double>();
      value.sub_(2e-6);
      const double below = loss().item<double>();
      value.add_(1e-6);
      if (example.bounded_parameters && above == below) continue;
      EXPECT_NEAR((above - below) / 2e-6, exact, 1e-7) << parameter.name;
    }
  }
}

// Logits of real tokens, and what a sum of them has for gradients of all
// parameters, in fp64.
std::vector<at::Tensor> LogitsAndGradients(const Transformer& transformer,
                                           const at::Tensor& tokens,
                                           const ForwardOptions& options) {
  for (const auto& parameter : transformer.Parameters()) {
    parameter.tensor.mutable_grad() = at::Tensor();
  }
  at::Tensor logits = transformer.Forward(tokens, options);
  if (options.attention_mask.has_value()) {
    logits = logits * options.attention_mask->unsqueeze(-1);
  }
  const at::Tensor factor =
      model::testing::Normals(logits.sizes().vec(), "factor");
  (logits * factor.to(logits.scalar_type())).sum().backward();
  std::vector<at::Tensor> results = {logits.detach().to(at::kDouble)};
  for (const auto& parameter : transformer.Parameters()) {
    const at::Tensor& gradient = parameter.tensor.grad();
    results.push_back(gradient.defined()
                          ? gradient.to(at::kDouble)
                          : at::zeros_like(parameter.tensor, at::kDouble));
  }
  return results;
}

class ContractTest : public ::testing::TestWithParam<Example> {
 protected:
  // Random in all parameters.
  static std::unique_ptr<Transformer> Make(at::ScalarType dtype = at::kDouble,
                                           const Model& model = SmallModel()) {
    parameters::ParameterOptions options;
    options.dtype = dtype;
    auto transformer = MakeTransformer(model, GetParam().encoding, options);
    Randomize(transformer->Parameters());
    return transformer;
  }

  static at::Tensor Tokens(int64_t rows, int64_t length) {
    return Integers({rows, length}, kVocabulary, "tokens");
  }

  // Resolved.
  static Component Resolved() {
    Component encoding = GetParam().encoding;
    std::vector<base::FieldViolation> violations;
    catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &encoding,
                              &violations);
    EXPECT_TRUE(violations.empty());
    return encoding;
  }

  // 0: none.
  static int64_t Limit() { return catalog::MaxLength(Resolved()); }

  static bool IsRelative() { return catalog::IsRelative(Resolved()); }

  static bool Decodes() {
    return All(GetParam().encoding, [](const auto& traits) {
      return traits.decoding != catalog::Decoding::kNone;
    });
  }

  // Whether decoding gives every row of the full pass.
  static bool DecodesAllRows() {
    return All(GetParam().encoding, [](const auto& traits) {
      return traits.decoding == catalog::Decoding::kCached;
    });
  }

  // Whether a row's logits are those of its tokens and of no later ones: where
  // rotations depend on the length, padding without a mask counts.
  static bool CountsByRow() {
    return All(GetParam().encoding, [](const auto& traits) {
      return traits.decoding != catalog::Decoding::kLastRow;
    });
  }

  // Whether positions, unless given, depend on the length of a row.
  static bool DrawsPositions() {
    return !All(GetParam().encoding,
                [](const auto& traits) { return !traits.draws_positions; });
  }

  // Whether the catalogue refuses it without the causal mask.
  static bool IsCausalOnly() {
    const Model model = SmallModel();
    catalog::ModelShape shape{model.layers(), model.width(), model.heads()};
    shape.causal = false;
    std::vector<base::FieldViolation> violations;
    catalog::CheckShape("encoding", Resolved(), shape, &violations);
    return !violations.empty();
  }

  // Why the catalogue refuses to train it with a kernel; empty: it does not.
  static std::string RefusalOf(const std::string& kernel) {
    const Model model = SmallModel();
    const Component encoding = Resolved();
    catalog::AttentionUse use{&model, &encoding, "cpu", "fp32", kernel};
    use.is_training = true;
    catalog::Violations violations;
    catalog::CheckKernel("kernel", use, &violations);
    return violations.empty() ? "" : violations.front().description;
  }

  // Whether the catalogue promises any kernel.
  static bool HasKernelTerms() {
    return RefusalOf("cpu_tiled").empty() || RefusalOf("cpu_counted").empty();
  }

  // What fp32 may differ from fp64: wider where a state adds up rounding from
  // layer to layer.
  static double SingleBound() {
    return All(GetParam().encoding,
               [](const auto& traits) { return !traits.carries_state; })
               ? 1e-4
               : 1e-3;
  }
};

TEST_P(ContractTest, LogitsHaveTheirShapeAtEveryLength) {
  const auto transformer = Make();
  for (int64_t length : {1, 2, 17, 300}) {
    if (Limit() != 0 && length > Limit()) continue;
    const at::Tensor logits = Logits(*transformer, Tokens(2, length));
    EXPECT_EQ(logits.sizes(), (std::vector<int64_t>{2, length, 11}));
    EXPECT_TRUE(logits.isfinite().all().item<bool>()) << length;
  }
}

TEST_P(ContractTest, BeyondItsLimitIsAnErrorThatNamesTheLimit) {
  if (Limit() == 0) GTEST_SKIP() << "no limit";
  const auto transformer = Make();
  // By position ids where rows are too long for a test.
  // Where ids are drawn, it is the number of tokens that is limited.
  const bool by_ids = Limit() > 1000 && !DrawsPositions();
  const auto run = [&](int64_t length) {
    ForwardOptions options;
    if (by_ids) options.positions = Longs({1, 2}, {length - 2, length - 1});
    Logits(*transformer, Tokens(1, by_ids ? 2 : length), options);
  };
  run(Limit());
  try {
    run(Limit() + 1);
    FAIL() << "no error";
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(),
                HasSubstr(std::to_string(Limit())));
  }
}

TEST_P(ContractTest, ALaterTokenChangesNoBitBeforeIt) {
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 9);
  at::Tensor changed = tokens.clone();
  changed.select(1, 6).add_(1).remainder_(kVocabulary);
  const at::Tensor before = Logits(*transformer, tokens);
  const at::Tensor after = Logits(*transformer, changed);
  EXPECT_TRUE(SameBits(before.narrow(1, 0, 6).contiguous(),
                       after.narrow(1, 0, 6).contiguous()));
  EXPECT_GT(MaxDifference(before.narrow(1, 6, 3), after.narrow(1, 6, 3)), 1e-3);
}

TEST_P(ContractTest, HasTheDocumentedNumberOfParameters) {
  const auto count = [](const Transformer& transformer) {
    int64_t values = 0;
    for (const auto& parameter : transformer.Parameters()) {
      values += parameter.tensor.numel();
    }
    return values;
  };
  const auto none =
      MakeTransformer(SmallModel(), model::testing::Encoding("none"));
  const Model model = SmallModel();
  EXPECT_EQ(count(*Make()) - count(*none),
            catalog::CountParameters(
                Resolved(), {model.layers(), model.width(), model.heads()}));
}

// Every query sees every key, where the definition allows it.
TEST_P(ContractTest, WithoutTheCausalMaskGradientsAreRightToo) {
  Model model = SmallModel();
  model.set_causal(false);
  if (IsCausalOnly()) {
    EXPECT_FALSE(Transformer::Create(model, GetParam().encoding, {}).ok());
    return;
  }
  const auto transformer = Make(at::kDouble, model);
  const at::Tensor tokens = Tokens(1, 5);
  at::Tensor changed = tokens.clone();
  changed.select(1, 4).add_(1).remainder_(kVocabulary);
  EXPECT_GT(MaxDifference(Logits(*transformer, tokens).select(1, 0),
                          Logits(*transformer, changed).select(1, 0)),
            1e-6);
  CheckGradients(GetParam(), *transformer, tokens);
}

TEST_P(ContractTest, TheSameSeedGivesTheSameResult) {
  const at::Tensor tokens = Tokens(2, 6);
  EXPECT_TRUE(SameBits(Logits(*Make(), tokens), Logits(*Make(), tokens)));
}

TEST_P(ContractTest, GradientsEqualFiniteDifferences) {
  CheckGradients(GetParam(), *Make(), Tokens(2, 6));
}

// The kernels that the catalogue says there are, and no others, with gradients
// of all parameters; by tokens' distances, by ids with gaps, and padded.
TEST_P(ContractTest, KernelsComputeTheSameAsPlainOperations) {
  const auto transformer = Make(at::kFloat);
  // In fp64, with the same values: gradients may jump where a count passes a
  // whole number, and any rounding may take it there.
  const auto exact = Make();
  {
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < exact->Parameters().size(); ++i) {
      exact->Parameters()[i].tensor.copy_(transformer->Parameters()[i].tensor);
    }
  }
  const int64_t length = Limit() == 0 ? 70 : std::min<int64_t>(Limit(), 70);
  const at::Tensor tokens = Tokens(2, length);
  std::vector<ForwardOptions> cases(2);
  cases[1].attention_mask = at::ones({2, length}, at::kLong);
  if (length > 5) cases[1].attention_mask->select(0, 1).narrow(0, 0, 3).zero_();
  for (ForwardOptions& options : cases) {
    const auto run = [&](const Transformer& model, const std::string& kernel) {
      options.kernel = kernel;
      return LogitsAndGradients(model, tokens, options);
    };
    const auto right = run(*exact, "reference");
    const auto plain = run(*transformer, "reference");
    const auto expect_near = [&](const std::vector<at::Tensor>& found) {
      for (size_t i = 0; i < right.size(); ++i) {
        const double largest = right[i].abs().max().item<double>();
        EXPECT_LT(MaxDifference(found[i], right[i]),
                  2 * MaxDifference(plain[i], right[i]) +
                      SingleBound() * (1.0 + largest))
            << (i == 0 ? "logits" : transformer->Parameters()[i - 1].name);
      }
    };
    for (const auto& kernel : catalog::AttentionKernels()) {
      if (kernel.device != "cpu" || kernel.name != kernel.family) continue;
      const std::string& name = kernel.name;
      const std::string refusal = RefusalOf(name);
      try {
        expect_near(run(*transformer, name));
        EXPECT_EQ(refusal, "");
      } catch (const c10::ValueError& refused) {
        EXPECT_NE(refusal, "") << refused.msg();
      }
    }
    expect_near(run(*transformer, ""));
  }
}

// Training in bf16 has weights in fp32 that meet q and k: kernels mix what the
// projections give all the same.
TEST_P(ContractTest, UnderAutocastKernelsMixInItsType) {
  kernels::torch::testing::AddRecorder();
  const int64_t length = Limit() == 0 ? 12 : std::min<int64_t>(Limit(), 12);
  for (const bool qk_norm : {false, true}) {
    Model model = SmallModel();
    model.set_qk_norm(qk_norm);
    const auto transformer = Make(at::kFloat, model);
    ForwardOptions options;
    options.kernel = kernels::torch::testing::kRecorder;
    try {
      const training::AutocastScope autocast("bf16");
      Logits(*transformer, Tokens(2, length), options);
    } catch (const c10::ValueError& refused) {
      EXPECT_FALSE(HasKernelTerms()) << refused.msg();
    }
    const auto problems = kernels::torch::testing::TakeRecorded();
    EXPECT_TRUE(!problems.empty() || !HasKernelTerms());
    for (const auto& problem : problems) {
      EXPECT_EQ(problem.type, kernels::Type::kBfloat16)
          << (qk_norm ? "with qk_norm" : "");
    }
  }
}

// As on a GPU, as far as that goes without one: its operations refuse to mix
// tensors of two devices, and its stand-ins for kernels refuse the host's.
TEST_P(ContractTest, ComputesWhereItsParametersAre) {
  kernels::torch::testing::AddWitnesses();
  parameters::ParameterOptions options;
  options.device = c10::Device(at::kMeta);
  const auto transformer =
      MakeTransformer(SmallModel(), GetParam().encoding, options);
  const int64_t length = Limit() == 0 ? 12 : std::min<int64_t>(Limit(), 12);
  ForwardOptions plain, by_kernels, training;
  plain.kernel = "reference";
  plain.attention_mask = at::ones({2, length}, at::kLong);
  by_kernels.attention_mask = plain.attention_mask;
  training.training = TrainingStep{1, 2};
  for (const ForwardOptions& forward : {plain, by_kernels, training}) {
    const int64_t before = kernels::torch::testing::NumWitnessed().attention;
    try {
      const at::Tensor loss = transformer->Loss(
          Tokens(2, length), {Longs({2}, {1, 3}), Longs({2}, {0, 1})}, forward);
      EXPECT_TRUE(loss.is_meta());
      loss.backward();
    } catch (const c10::Error& error) {
      // What reads how far a device sees.
      EXPECT_THAT(error.what_without_backtrace(),
                  HasSubstr("out of meta tensor; no data!"));
      GTEST_SKIP() << "reads numbers of the device";
    }
    const int64_t passes =
        kernels::torch::testing::NumWitnessed().attention - before;
    if (!forward.kernel.empty()) {
      EXPECT_EQ(passes, 0);
    } else if (HasKernelTerms()) {
      EXPECT_GT(passes, 0);
    }
  }
  for (const auto& parameter : transformer->Parameters()) {
    EXPECT_TRUE(parameter.tensor.is_meta()) << parameter.name;
  }
}

// Of each row of a GPU; false: the encoding reads what a device knows alone.
bool ExpectRowsDoWhatTheCatalogueSays(const Model& model,
                                      const Component& encoding) {
  parameters::ParameterOptions options;
  options.device = c10::Device(at::kMeta);
  options.dtype = at::kBFloat16;
  const auto transformer = MakeTransformer(model, encoding, options);
  // Tables tell no more distances apart than rows have: those are longer than
  // any limit of a kernel.
  constexpr int64_t kTokens = 72;
  const int64_t limit = catalog::MaxLength(encoding);
  const int64_t length = limit == 0 ? kTokens : std::min(limit, kTokens);
  for (const auto& kernel : catalog::AttentionKernels()) {
    if (kernel.device != "cuda") continue;
    catalog::Violations violations;
    catalog::CheckKernel("kernel",
                         {&model, &encoding, "cuda", "bf16", kernel.name},
                         &violations);
    ForwardOptions forward;
    forward.kernel = kernel.name;
    // Some draw position ids there alone.
    forward.training = TrainingStep{1, 2};
    const at::NoGradGuard no_grad;
    try {
      transformer->Forward(Integers({2, length}, kVocabulary, "tokens"),
                           forward);
      EXPECT_TRUE(violations.empty())
          << kernel.name << " does it, and not by the catalogue: "
          << violations.front().description;
    } catch (const c10::ValueError& refused) {
      EXPECT_FALSE(violations.empty()) << "by the catalogue it does it: "
                                       << refused.what_without_backtrace();
    } catch (const c10::Error& error) {
      EXPECT_THAT(error.what_without_backtrace(),
                  HasSubstr("out of meta tensor; no data!"));
      return false;
    }
  }
  return true;
}

// The rows of a GPU's library, as far as it goes without one: what the
// catalogue says of each, of an encoding with all its parameters, is what the
// row's own code says of the problem that the encoding makes of it.
TEST_P(ContractTest, RowsForAGpuTakeWhatTheCatalogueSaysTheyDo) {
  kernels::torch::testing::AddWitnesses();
  const Component encoding = Resolved();
  const bool has_state =
      !All(encoding, [](const auto& traits) { return !traits.carries_state; });
  // Some states are wider than heads.
  const std::vector<int> widths =
      has_state ? std::vector<int>{8, 64, 128} : std::vector<int>{8};
  for (const int width : widths) {
    for (const bool causal : {true, false}) {
      Model model = SmallModel();
      model.set_head_width(width);
      model.set_causal(causal);
      if (!causal && IsCausalOnly()) continue;
      if (!ExpectRowsDoWhatTheCatalogueSays(model, encoding)) {
        GTEST_SKIP() << "reads numbers of the device";
      }
    }
  }
}

// Four blocks of queries: padded, in groups, and under a window that has two
// sides where the definition allows it.
TEST_P(ContractTest, PlainOperationsInBlocksComputeTheSame) {
  const int64_t length = Limit() == 0 ? 13 : std::min<int64_t>(Limit(), 13);
  const at::Tensor tokens = Tokens(2, length);
  const auto check = [&](const Transformer& transformer,
                         ForwardOptions options) {
    const auto all = LogitsAndGradients(transformer, tokens, options);
    // Of both rows and both heads.
    options.logits_at_once = 2 * 2 * length * ((length + 3) / 4);
    const auto blocks = LogitsAndGradients(transformer, tokens, options);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_LT(MaxDifference(blocks[i], all[i]),
                1e-11 * (1.0 + all[i].abs().max().item<double>()))
          << (i == 0 ? "logits" : transformer.Parameters()[i - 1].name);
    }
  };
  ForwardOptions padded, groups;
  padded.attention_mask = at::ones({2, length}, at::kLong);
  if (length > 5) padded.attention_mask->select(0, 1).narrow(0, 0, 3).zero_();
  groups.shifted_sparse_group = 4;
  const auto transformer = Make();
  check(*transformer, padded);
  check(*transformer, groups);
  Model window = SmallModel();
  window.set_sliding_window(3);
  window.set_causal(IsCausalOnly());
  check(*Make(at::kDouble, window), {});
}

TEST_P(ContractTest, SavedParametersGiveTheSameLogits) {
  const auto one = Make();
  const auto other = model::testing::SmallTransformer(GetParam().encoding);
  training::TensorMap saved;
  for (const auto& parameter : one->Parameters()) {
    saved[parameter.name] = parameter.tensor.detach();
  }
  const base::testing::TemporaryFolder folder;
  base::PosixFilesystem files;
  ORDO_ASSERT_OK(
      training::WriteSafetensors(files, folder.Path("model"), saved));
  ORDO_ASSERT_OK_AND_ASSIGN(
      const training::TensorMap loaded,
      training::ReadSafetensors(files, folder.Path("model")));
  EXPECT_EQ(loaded.size(), other->Parameters().size());
  {
    const at::NoGradGuard no_grad;
    for (const auto& parameter : other->Parameters()) {
      ASSERT_EQ(loaded.count(parameter.name), 1u) << parameter.name;
      parameter.tensor.copy_(loaded.at(parameter.name));
    }
  }
  const at::Tensor tokens = Tokens(2, 6);
  EXPECT_TRUE(SameBits(Logits(*one, tokens), Logits(*other, tokens)));
}

TEST_P(ContractTest, AShiftOfAllPositionsChangesLogitsByRoundingOnly) {
  if (!IsRelative()) GTEST_SKIP() << "not relative";
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 6);
  ForwardOptions start, shifted;
  start.positions = Longs({1, 6}, {0, 1, 2, 3, 4, 5});
  shifted.positions = *start.positions + 1537;
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, shifted),
                          Logits(*transformer, tokens, start)),
            1e-9);
}

TEST_P(ContractTest, PositionIdsThatSpellTheDefaultChangeNothing) {
  if (DrawsPositions()) GTEST_SKIP() << "the default is drawn";
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 4);
  ForwardOptions options;
  options.positions = Longs({2, 4}, {0, 1, 2, 3, 0, 1, 2, 3});
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, options),
                          Logits(*transformer, tokens)),
            1e-14);
}

TEST_P(ContractTest, PositionIdsMayDifferFromRowToRow) {
  if (Limit() != 0 && Limit() <= 11) GTEST_SKIP() << "limit " << Limit();
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 3);
  ForwardOptions both, second;
  both.positions = Longs({2, 3}, {0, 1, 2, 4, 9, 11});
  second.positions = Longs({1, 3}, {4, 9, 11});
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, both).narrow(0, 1, 1),
                          Logits(*transformer, tokens.narrow(0, 1, 1), second)),
            1e-13);
}

// Keys of a cache count, too.
TEST_P(ContractTest, PositionIdsGoBackOnlyWhereDistancesHaveASign) {
  if (Limit() != 0 && Limit() <= 11) GTEST_SKIP() << "limit " << Limit();
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 3);
  Cache cache;
  ForwardOptions start, options;
  options.positions = Longs({2, 3}, {0, 1, 2, 3, 4, 11});
  start.cache = options.cache = Decodes() ? &cache : nullptr;
  start.positions = *options.positions;
  Logits(*transformer, tokens, start);
  options.positions = Longs({2, 3}, {2, 3, 4, 11, 10, 11});
  if (catalog::NeedsOrderedPositions(Resolved()).empty()) {
    EXPECT_TRUE(
        Logits(*transformer, tokens, options).isfinite().all().item<bool>());
    return;
  }
  try {
    Logits(*transformer, tokens, options);
    FAIL() << "no error";
  } catch (const c10::ValueError& error) {
    EXPECT_THAT(error.what_without_backtrace(),
                HasSubstr("positions: row 1 goes back to 10 at token"));
  }
}

TEST_P(ContractTest, APaddedRowEqualsTheRowAlone) {
  const auto transformer = Make();
  const at::Tensor row = Tokens(1, 5);
  const at::Tensor alone = Logits(*transformer, row);
  const at::Tensor padding = Longs({1, 2}, {0, 0});
  ForwardOptions options;
  // One row padded on the left, one on the right.
  const at::Tensor batch =
      at::cat({at::cat({padding, row}, 1), at::cat({row, padding}, 1)}, 0);
  options.attention_mask =
      Longs({2, 7}, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  const at::Tensor padded = Logits(*transformer, batch, options);
  EXPECT_LT(MaxDifference(padded.narrow(0, 0, 1).narrow(1, 2, 5), alone),
            1e-13);
  EXPECT_LT(MaxDifference(padded.narrow(0, 1, 1).narrow(1, 0, 5), alone),
            1e-13);
  EXPECT_TRUE(padded.isfinite().all().item<bool>());
  // As transformer.h says: on the right no mask is needed, but for encodings
  // that count what they see.
  if (!CountsByRow()) return;
  if (DrawsPositions()) return;
  EXPECT_LT(
      MaxDifference(Logits(*transformer, batch.narrow(0, 1, 1)).narrow(1, 0, 5),
                    alone),
      1e-13);
}

// At the same positions; and at those that it counts alone, where these do not
// matter. So do plain operations in blocks, and kernels.
TEST_P(ContractTest, ATextAmongOthersGivesTheLogitsThatItGivesAlone) {
  constexpr int64_t kLength = 12;
  ASSERT_TRUE(Limit() == 0 || Limit() >= kLength);
  // Digits stand on both sides of where texts begin.
  const at::Tensor tokens =
      Longs({2, kLength}, {5, 6, 1, 7, 7, 9, 3, 4, 5, 2, 6,  10,  //
                           1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 0});
  ForwardOptions together;
  together.first_seen =
      Longs({2, kLength}, {0, 0, 0, 0, 4, 4, 4, 4, 4, 9, 9, 9,  //
                           0, 0, 0, 0, 0, 0, 0, 7, 7, 7, 7, 7});
  together.positions = at::arange(kLength).unsqueeze(0);
  const auto transformer = Make();
  const at::Tensor packed = Logits(*transformer, tokens, together);
  // Of each text, at its positions in the row or at those it counts.
  const auto difference = [&](bool counts) {
    double most = 0;
    for (const auto& [row, begin, end] : std::vector<std::array<int64_t, 3>>{
             {0, 0, 4}, {0, 4, 9}, {0, 9, 12}, {1, 0, 7}, {1, 7, 12}}) {
      const auto cut = [row = row, begin = begin,
                        end = end](const at::Tensor& x) {
        return x.narrow(0, row, 1).narrow(1, begin, end - begin);
      };
      ForwardOptions alone;
      if (!counts) alone.positions = at::arange(begin, end).unsqueeze(0);
      most = std::max(
          most,
          MaxDifference(cut(packed), Logits(*transformer, cut(tokens), alone)));
    }
    return most;
  };
  const int64_t steady = catalog::SteadyLength(Resolved());
  if (steady > 0 && steady < kLength) {
    // What is refused in training would not hold.
    EXPECT_GT(difference(/*counts=*/false), 1e-6);
    return;
  }
  EXPECT_LT(difference(/*counts=*/false), 1e-12);
  if (IsRelative() && !DrawsPositions()) {
    EXPECT_LT(difference(/*counts=*/true), 1e-9);
  }
  ForwardOptions blocks = together;
  // Of three queries of both rows and both heads.
  blocks.logits_at_once = 2 * 2 * kLength * 3;
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens, blocks), packed), 1e-12);
  const auto single = Make(at::kFloat);
  ForwardOptions plain = together;
  plain.kernel = "reference";
  EXPECT_LT(MaxDifference(Logits(*single, tokens, together), packed),
            2 * MaxDifference(Logits(*single, tokens, plain), packed) +
                SingleBound());
}

TEST_P(ContractTest, PaddingGivesNoNanInGradients) {
  const auto transformer = Make();
  ForwardOptions options;
  options.attention_mask = Longs({1, 5}, {0, 0, 1, 1, 1});
  transformer->Forward(Tokens(1, 5), options).sum().backward();
  for (const auto& parameter : transformer->Parameters()) {
    if (!parameter.tensor.grad().defined()) continue;
    EXPECT_TRUE(parameter.tensor.grad().isfinite().all().item<bool>())
        << parameter.name;
  }
}

// Decodes `tokens` in pieces of the given lengths, few logits at once.
at::Tensor Decode(const Transformer& transformer, const at::Tensor& tokens,
                  const std::vector<int64_t>& pieces,
                  const at::Tensor& mask = {}) {
  Cache cache;
  std::vector<at::Tensor> logits;
  int64_t start = 0;
  for (int64_t piece : pieces) {
    ForwardOptions options;
    options.cache = &cache;
    options.final_length = tokens.size(1);
    // Of two queries.
    options.logits_at_once = 2 * 2 * tokens.numel();
    if (mask.defined()) options.attention_mask = mask.narrow(1, start, piece);
    logits.push_back(
        Logits(transformer, tokens.narrow(1, start, piece), options));
    start += piece;
  }
  return at::cat(logits, 1);
}

TEST_P(ContractTest, CachedDecodingEqualsTheFullPass) {
  if (!DecodesAllRows()) GTEST_SKIP() << "another row says how it decodes";
  const at::Tensor tokens = Tokens(3, 9);
  for (at::ScalarType dtype : {at::kDouble, at::kFloat}) {
    const auto transformer = Make(dtype);
    const double bound = dtype == at::kDouble ? 1e-12 : SingleBound();
    const at::Tensor full = Logits(*transformer, tokens);
    EXPECT_LT(
        MaxDifference(Decode(*transformer, tokens, {4, 1, 1, 1, 1, 1}), full),
        bound);
    EXPECT_LT(MaxDifference(Decode(*transformer, tokens, {1, 3, 5}), full),
              bound);
  }
}

// Length-dependent rotations: a full pass turns every row by those of its own
// length, so only the last row is the same; and with one layer, because what a
// second one reads of earlier tokens was made at their length.
TEST_P(ContractTest, CachedDecodingGivesTheLastRowOfTheFullPass) {
  if (!Decodes()) GTEST_SKIP() << "does not decode";
  const at::Tensor tokens = Tokens(3, 9);
  Model model = SmallModel();
  if (!DecodesAllRows()) model.set_layers(1);
  const auto transformer = Make(at::kDouble, model);
  for (const std::vector<int64_t>& pieces :
       {std::vector<int64_t>{4, 1, 1, 1, 1, 1}, {1, 3, 5}}) {
    EXPECT_LT(MaxDifference(Decode(*transformer, tokens, pieces).select(1, -1),
                            Logits(*transformer, tokens).select(1, -1)),
              1e-12);
  }
}

TEST_P(ContractTest, WhatDoesNotDecodeSaysSo) {
  if (Decodes()) GTEST_SKIP() << "decodes";
  EXPECT_THROW(Decode(*Make(), Tokens(1, 4), {3, 1}), c10::Error);
}

TEST_P(ContractTest, CachedDecodingOfPaddedRowsEqualsTheFullPass) {
  if (!DecodesAllRows()) GTEST_SKIP() << "not all rows";
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(2, 6);
  const at::Tensor mask = Longs({2, 6}, {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  ForwardOptions options;
  options.attention_mask = mask;
  const at::Tensor full = Logits(*transformer, tokens, options);
  EXPECT_LT(MaxDifference(Decode(*transformer, tokens, {3, 1, 2}, mask), full),
            1e-12);
  // Later pieces need no mask of their own.
  Cache cache;
  ForwardOptions first, later;
  first.cache = later.cache = &cache;
  first.final_length = later.final_length = 6;
  first.attention_mask = mask.narrow(1, 0, 3);
  Logits(*transformer, tokens.narrow(1, 0, 3), first);
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens.narrow(1, 3, 3), later),
                          full.narrow(1, 3, 3)),
            1e-12);
}

TEST_P(ContractTest, ACacheWithSomeRowsGoesOnAsThoseRows) {
  if (!DecodesAllRows()) GTEST_SKIP() << "not all rows";
  const auto transformer = Make();
  const at::Tensor tokens = Tokens(3, 6);
  const at::Tensor rows = Longs({2}, {2, 0});
  Cache cache;
  ForwardOptions options;
  options.cache = &cache;
  options.final_length = 6;
  Logits(*transformer, tokens.narrow(1, 0, 4), options);
  cache.SelectRows(rows);
  const at::Tensor rest = Logits(
      *transformer, tokens.index_select(0, rows).narrow(1, 4, 2), options);
  EXPECT_LT(
      MaxDifference(
          rest,
          Logits(*transformer, tokens).index_select(0, rows).narrow(1, 4, 2)),
      1e-12);
}

// A fixed bound, not one relative to a naive computation in fp32: on the
// reference path, the only one there is, this is the naive computation.
TEST_P(ContractTest, SinglePrecisionIsNearDouble) {
  const at::Tensor tokens = Tokens(2, 12);
  EXPECT_LT(
      MaxDifference(Logits(*Make(at::kFloat), tokens), Logits(*Make(), tokens)),
      SingleBound());
}

// At most twice the error of the same model with everything in bf16. Far from
// the start, too, where neighbouring positions are one number in bf16: a shift
// changes nothing in double, so the error at the start bounds that one as well;
// of all logits together there, since waves of far positions are rounded at
// other values.
TEST_P(ContractTest, HalfPrecisionIsNearDouble) {
  const at::Tensor tokens = Tokens(2, 12);
  ForwardOptions start, shifted;
  start.positions = at::arange(12).unsqueeze(0);
  shifted.positions = *start.positions + 1537;
  const at::Tensor exact = Logits(*Make(), tokens, start);
  const auto error = [&](const at::Tensor& logits) {
    return (logits.to(at::kDouble) - exact).abs();
  };
  const at::Tensor naive = error(Logits(*Make(at::kBFloat16), tokens, start));
  const auto transformer = Make(at::kFloat);
  const training::AutocastScope autocast("bf16");
  const double mixed =
      error(Logits(*transformer, tokens, start)).max().item<double>();
  EXPECT_LT(mixed, 2 * naive.max().item<double>());
  // It is bf16 at all.
  EXPECT_GT(mixed, 1e-4 * exact.abs().max().item<double>());
  if (!IsRelative()) return;
  const at::Tensor far = error(Logits(*transformer, tokens, shifted));
  EXPECT_LT(far.norm().item<double>(), 2 * naive.norm().item<double>());
}

// Recipes are checked against the catalogue's names where no kernel is at hand.
TEST(KernelNamesTest, TheCatalogueHasThoseOfTheTable) {
  std::vector<std::string> known, there;
  for (const auto& kernel : catalog::AttentionKernels()) {
    if (kernel.device == "cpu") known.push_back(kernel.name);
  }
  for (const auto& kernel : kernels::attention::Kernels()) {
    if (kernel.device == kernels::Device::kCpu &&
        kernel.name != kernels::torch::testing::kRecorder) {
      there.push_back(kernel.name);
    }
  }
  EXPECT_THAT(known, ::testing::UnorderedElementsAreArray(there));
}

TEST(KernelNamesTest, TheCatalogueHasTheLimitsOfTheTable) {
  EXPECT_EQ(catalog::kMaxSummedReach, kernels::attention::kMaxSummedReach);
  EXPECT_EQ(catalog::kMaxPositions, kernels::attention::kMaxPositions);
}

// A problem of so wide heads, and values that are as wide, on a GPU in bf16.
kernels::attention::Problem OnGpu(int64_t width, int num_values) {
  kernels::attention::Problem problem;
  problem.device = kernels::Device::kCuda;
  problem.type = kernels::Type::kBfloat16;
  problem.batch = problem.heads = problem.key_heads = 1;
  problem.queries = problem.keys = 8;
  problem.width = width;
  problem.num_values = num_values;
  for (auto& value : problem.values) value = {width, 1};
  return problem;
}

TEST(KernelNamesTest, TheCatalogueHasTheNamesAndLimitsOfRowsForAGpu) {
  kernels::torch::testing::AddWitnesses();
  std::vector<std::string> known, there;
  for (const auto& row : kernels::attention::Kernels()) {
    if (row.device == kernels::Device::kCuda && row.name != "witness") {
      there.push_back(row.name);
    }
  }
  // Witnesses are rows of the usual widths.
  for (const auto& kernel : catalog::AttentionKernelsOf(false)) {
    if (kernel.device != "cuda") continue;
    known.push_back(kernel.name);
    const auto takes = [&](const kernels::attention::Problem& problem) {
      return kernels::attention::Select(problem, kernel.name).ok();
    };
    // What nothing counts, or what something does.
    const bool counts = kernel.family == "cuda_counted";
    const auto with = [&](int64_t width, int num_values, int64_t pieces = 0) {
      auto problem = OnGpu(width, num_values);
      problem.pieces = pieces;
      if (pieces > 0) problem.mod = kernels::attention::ScoreMod::kRamp;
      if (counts) problem.gates = kernels::attention::Gates::kLogits;
      return problem;
    };
    const int step = kernel.head_width_multiple;
    EXPECT_TRUE(takes(with(kernel.max_head_width, 1))) << kernel.name;
    EXPECT_FALSE(takes(with(kernel.max_head_width + step, 1))) << kernel.name;
    EXPECT_FALSE(takes(with(step + 1, 1))) << kernel.name;
    const int values = std::min(kernel.max_values_width, 256);
    const int tile = std::max(kernel.value_tile, step);
    for (const int width : {step, 64, 72, 128}) {
      if (width > kernel.max_head_width) continue;
      const int taken = 2 * ((width + tile - 1) / tile) * tile;
      EXPECT_EQ(takes(with(width, 2)), taken <= values)
          << kernel.name << ": two values " << width << " wide";
    }
    const auto with_vectors = [&](int distances, bool causal) {
      auto problem = with(step, 1);
      problem.query_band = step;
      problem.reach = distances - 1;
      problem.causal = causal;
      return problem;
    };
    if (const int most = kernel.max_vectors; most < catalog::kNoLimit) {
      EXPECT_TRUE(takes(with_vectors(most, true))) << kernel.name;
      EXPECT_FALSE(takes(with_vectors(most + 1, true))) << kernel.name;
      EXPECT_FALSE(takes(with_vectors(most, false))) << kernel.name;
    }
    if (counts || kernel.max_pieces == 0) {
      EXPECT_FALSE(takes(with(step, 1, 2))) << kernel.name;
    } else {
      EXPECT_TRUE(takes(with(step, 1, kernel.max_pieces))) << kernel.name;
      EXPECT_FALSE(takes(with(step, 1, kernel.max_pieces + 1))) << kernel.name;
    }
  }
  EXPECT_THAT(known, ::testing::UnorderedElementsAreArray(there));
}

INSTANTIATE_TEST_SUITE_P(Registry, ContractTest,
                         ::testing::ValuesIn(testing::Examples()),
                         [](const ::testing::TestParamInfo<Example>& info) {
                           return info.param.label;
                         });

}  // namespace
}  // namespace ordo::model::encodings
