#ifndef ORDO_MODEL_CATALOG_KERNEL_CHOICE_H_
#define ORDO_MODEL_CATALOG_KERNEL_CHOICE_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Which attention kernel will compute a recipe, before anything runs.

namespace ordo::model::catalog {

// What is computed, and where. Not owned; resolved.
struct AttentionUse {
  // Null: not known yet.
  const ordo::training::v1::Model* model = nullptr;
  const ordo::training::v1::Component* encoding = nullptr;
  // As Resources.device and Training.precision.
  std::string device = "cpu";
  std::string precision = "fp32";
  // That the recipe names; empty: none.
  std::string kernel;
  // Gradients are taken.
  bool is_training = false;
};

// Appends a violation of `field`, which holds use.kernel, unless that is a
// kernel and does what is asked, as far as it is known.
void CheckKernel(std::string_view field, const AttentionUse& use,
                 Violations* violations);

// For people, where no kernel computes it: why not, and how much slower that
// is. `what` begins the sentence, such as "training". Empty where a kernel
// does, and where model or encoding are not known.
std::string SlowdownNotice(std::string_view what, const AttentionUse& use);

// CheckKernel for the steps and for each evaluation of a training task, of
// which model and encoding may be unknown.
struct KernelContext {
  const ordo::training::v1::Model* model = nullptr;
  const ordo::training::v1::Component* encoding = nullptr;
  std::string device = "cpu";
};
void CheckTrainingKernel(const KernelContext& context,
                         const ordo::training::v1::Training& training,
                         Violations* violations);
void CheckEvaluationKernels(
    const KernelContext& context,
    const google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>&
        evaluations,
    Violations* violations);

// SlowdownNotice of the same; no sentence twice.
void AddTrainingNotice(const KernelContext& context,
                       const ordo::training::v1::Training& training,
                       std::vector<std::string>* notices);
void AddEvaluationNotices(
    const KernelContext& context,
    const google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>&
        evaluations,
    std::vector<std::string>* notices);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_KERNEL_CHOICE_H_
