#include "model/catalog/resolve_training.h"

#include "absl/strings/str_cat.h"
#include "model/catalog/fields.h"
#include "model/catalog/fine_tuning.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

// Every rank has as many passes of a batch as the others.
void CheckPasses(std::string_view field, int ranks,
                 const v1::Training& training, Violations* violations) {
  const std::string path = FieldPath(field, "micro_batch_size");
  if (training.batch_size() % training.micro_batch_size() != 0) {
    violations->push_back(
        {path, absl::StrCat("must divide batch_size, is ",
                            training.micro_batch_size(),
                            " with a batch_size of ", training.batch_size())});
    return;
  }
  const int passes = training.batch_size() / training.micro_batch_size();
  if (passes % ranks == 0) return;
  violations->push_back(
      {path,
       absl::StrCat("makes ", passes, passes == 1 ? " pass" : " passes",
                    " of a batch of ", training.batch_size(), ", which ", ranks,
                    " ranks cannot share evenly; choose batch_size / "
                    "micro_batch_size a multiple of resources.ranks")});
}

}  // namespace

void ResolveTraining(std::string_view field, int ranks, v1::Training* training,
                     Violations* violations) {
  ResolveNumber({"steps", 1, 1e9, {}}, field, training, violations);
  bool batch_valid =
      ResolveNumber({"batch_size", 1, 1e6, 64}, field, training, violations);
  const int share = training->batch_size() % ranks == 0
                        ? training->batch_size() / ranks
                        : training->batch_size();
  batch_valid =
      ResolveNumber({"micro_batch_size", 1, 1e6, static_cast<double>(share)},
                    field, training, violations) &&
      batch_valid;
  if (batch_valid) CheckPasses(field, ranks, *training, violations);
  ResolveNumber({"learning_rate", 0, 10, 1e-3, /*open_min=*/true}, field,
                training, violations);
  const bool schedule_valid =
      ResolveChoice({"schedule", {"trapezoid", "cosine", "linear", "constant"}},
                    field, training, violations);
  const bool fractions_valid = ResolveNumbers({{"warmup_fraction", 0, 1, 0.1},
                                               {"cooldown_fraction", 0, 1, 0.1},
                                               {"final_fraction", 0, 1, 0}},
                                              field, training, violations);
  // Room for rounding: 0.9 + 0.1 may be a little more than 1.
  constexpr double kRounding = 1e-9;
  if (schedule_valid && fractions_valid &&
      training->schedule() == "trapezoid" &&
      training->warmup_fraction() + training->cooldown_fraction() >
          1 + kRounding) {
    violations->push_back(
        {FieldPath(field, "cooldown_fraction"),
         absl::StrCat("with warmup_fraction must be at most 1, is ",
                      training->cooldown_fraction(), " + ",
                      training->warmup_fraction())});
  }
  ResolveNumbers({{"beta1", 0, 1, 0.9, false, /*open_max=*/true},
                  {"beta2", 0, 1, 0.98, false, /*open_max=*/true},
                  {"epsilon", 0, 1, 1e-8, /*open_min=*/true},
                  {"weight_decay", 0, 10, 0.01},
                  {"clip_norm", 0, 1e9, 1},
                  {"max_non_finite", 1, 1000, 10},
                  {"log_every_steps", 1, 1e6, 10}},
                 field, training, violations);
  ResolveChoice({"precision", {"fp32", "bf16"}}, field, training, violations);
  ResolveChoice({"non_finite", {"fail", "skip"}}, field, training, violations);
  if (!training->has_seed()) training->set_seed(1);
  ResolveFineTuning(field, training, violations);
}

void ResolveCheckpointPolicy(std::string_view field,
                             v1::CheckpointPolicy* policy,
                             Violations* violations) {
  ResolveNumbers({{"every_steps", 1, 1e9, 200}, {"keep", 1, 1000, 3}}, field,
                 policy, violations);
  // Left out, all keep it.
  if (!policy->has_keep_optimizer()) return;
  ResolveNumber({"keep_optimizer", 1, 1000, {}}, field, policy, violations);
}

}  // namespace ordo::model::catalog
