#include "model/catalog/resolve.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/text/labels.h"
#include "model/catalog/benchmark.h"
#include "model/catalog/fine_tuning.h"
#include "model/catalog/kernel_choice.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

constexpr int kMaxEvaluationNameLength = 63;
constexpr int kSha256HexLength = 64;
constexpr int kMaxLabels = 64;
constexpr double kMaxBytes = int64_t{1} << 50;

bool ResolveNumbers(const std::vector<NumberField>& fields,
                    std::string_view path, google::protobuf::Message* message,
                    Violations* violations) {
  bool valid = true;
  for (const NumberField& field : fields) {
    valid = ResolveNumber(field, path, message, violations) && valid;
  }
  return valid;
}

// Reports are called <evaluation>-<step> and a folder has that name.
bool IsEvaluationName(std::string_view name) {
  if (name.empty() || name.size() > kMaxEvaluationNameLength) return false;
  if (!absl::ascii_islower(name.front())) return false;
  for (const char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '-' &&
        c != '_') {
      return false;
    }
  }
  return true;
}

void ResolveMoment(const EvaluationsContext& context, const std::string& path,
                   v1::Evaluation* evaluation, Violations* violations) {
  if (!context.in_training) {
    for (const char* name : {"at", "every_steps"}) {
      const auto* field = v1::Evaluation::descriptor()->FindFieldByName(name);
      if (evaluation->GetReflection()->HasField(*evaluation, field)) {
        violations->push_back(
            {FieldPath(path, name),
             "has a meaning inside a training job only; leave it out"});
      }
    }
    return;
  }
  if (evaluation->has_every_steps()) {
    if (!evaluation->at().empty()) {
      violations->push_back({FieldPath(path, "at"),
                             "not beside every_steps, which includes the end; "
                             "leave one of them out"});
    }
    ResolveNumber({"every_steps", 1, 1e9, {}}, path, evaluation, violations);
    return;
  }
  ResolveChoice({"at", {"end"}}, path, evaluation, violations);
}

// `path_of_name` has the names so far and who has them.
void CheckName(const std::string& path, const std::string& name,
               std::map<std::string, std::string>* path_of_name,
               Violations* violations) {
  if (!IsEvaluationName(name)) {
    violations->push_back(
        {FieldPath(path, "name"),
         absl::StrCat("must be lower-case letters, digits, '-' and '_', "
                      "starting with a letter, at most ",
                      kMaxEvaluationNameLength, " characters")});
    return;
  }
  const auto [known, added] = path_of_name->emplace(name, path);
  if (!added) {
    violations->push_back(
        {FieldPath(path, "name"),
         absl::StrCat("'", name, "' is the name of ", known->second,
                      " too; give each its own")});
  }
}

void ResolveSource(const std::string& path, const v1::CheckpointSource& source,
                   Violations* violations) {
  if (source.path().empty()) {
    violations->push_back(
        {FieldPath(path, "path"), "required; the checkpoint's folder"});
  }
  if (source.step() < 0) {
    violations->push_back({FieldPath(path, "step"),
                           absl::StrCat("must be >= 0, is ", source.step())});
  }
  const std::string& digest = source.manifest_sha256();
  if (!digest.empty() &&
      (digest.size() != kSha256HexLength ||
       digest.find_first_not_of("0123456789abcdef") != std::string::npos)) {
    violations->push_back({FieldPath(path, "manifest_sha256"),
                           "must be 64 lower-case hexadecimal digits"});
  }
}

// What names a task's place: its job and attempt. A trainer that runs alone
// has no job, and its attempt is the first.
template <typename Spec>
void ResolveIdentity(Spec* spec, Violations* violations) {
  if (!spec->job().empty() && !IsId(spec->job())) {
    violations->push_back({"job", absl::StrCat("must be ", IdRule())});
  }
  if (spec->attempt() == 0) spec->set_attempt(1);
  if (spec->attempt() < 0) {
    violations->push_back(
        {"attempt", absl::StrCat("must be >= 1, is ", spec->attempt())});
  }
}

// Parameters that are not `valid` do not say it. 0: not known.
int VocabularyIfKnown(const Entry* task, bool valid, const ParamMap& params) {
  if (task == nullptr) return 0;
  if (task->vocabulary_of == nullptr) return task->vocabulary_size;
  return valid ? VocabularyOf(*task, params) : 0;
}

// How long rows of a task are and may be.
struct RowLengths {
  int64_t tokens = 0;
  int64_t limit = 0;
};

RowLengths RowLengthOf(const Entry& task, const ParamMap& params,
                       int64_t limit) {
  if (task.row_length == nullptr || limit == 0) return {};
  return {task.row_length(params), limit};
}

void RefuseLongRows(const std::string& field, const RowLengths& lengths,
                    Violations* violations) {
  if (lengths.tokens <= lengths.limit) return;
  violations->push_back(
      {field,
       absl::StrCat("rows have up to ", lengths.tokens,
                    " tokens, the encoding has room for ", lengths.limit,
                    "; raise the encoding's limit or make the rows shorter")});
}

// More items than a report can be made of. `field` is that of the evaluation,
// whose parameters are resolved.
void RefuseManyItems(const std::string& field, const Entry& task,
                     const ParamMap& params, Violations* violations) {
  // Where data is read it is known only then how many there are.
  if (FindParam(task, "samples") == nullptr) return;
  const int64_t per_sample = task.evaluation.items_per_sample == nullptr
                                 ? 1
                                 : task.evaluation.items_per_sample(params);
  const int64_t tokens = std::max<int64_t>(1, task.row_length(params));
  const int64_t samples = Params(params).Integer("samples");
  const int64_t limit = std::min(kMaxItems, kMaxItemTokens / tokens);
  if (samples <= limit / per_sample) return;
  const std::string fix =
      per_sample <= limit
          ? absl::StrCat("give at most ", limit / per_sample)
          : "make the grid smaller, or lengths shorter or fewer";
  violations->push_back(
      {FieldPath(field, "params.samples"),
       absl::StrCat("of ", samples, " makes ", samples * per_sample,
                    " items of up to ", tokens, " tokens; at most ", limit,
                    " of such are possible: ", fix)});
}

// `task` is that of `data`, both resolved.
void RefuseNextTokens(const Entry& task, const v1::Data& data,
                      const v1::Model& model, Violations* violations) {
  const bool in_place =
      task.answers_in_place != nullptr && task.answers_in_place(data.params());
  if (model.causal() || in_place) return;
  violations->push_back(
      {"data.task",
       absl::StrCat(task.name,
                    " is learned from next tokens, which a model with causal: "
                    "false sees before it says them; leave out model.causal, "
                    "or take a task whose answers are read in place, such as "
                    "ruoss")});
}

// The sizes are in their ranges.
void ResolveHeadWidth(std::string_view field, v1::Model* model,
                      Violations* violations) {
  const int width = model->width(), heads = model->heads();
  if (model->has_head_width()) {
    if (ResolveNumber({"head_width", 2, 65536, {}}, field, model, violations) &&
        model->head_width() % 2 != 0) {
      violations->push_back(
          {FieldPath(field, "head_width"),
           absl::StrCat("must be even, is ", model->head_width())});
    }
    return;
  }
  if (width % heads != 0) {
    violations->push_back(
        {FieldPath(field, "width"),
         absl::StrCat("must be a multiple of heads, is ", width, " with ",
                      heads, " heads; or set head_width")});
  } else if (width / heads % 2 != 0) {
    violations->push_back(
        {FieldPath(field, "heads"),
         absl::StrCat("width / heads must be even, is ", width, " / ", heads,
                      " = ", width / heads)});
  } else {
    model->set_head_width(width / heads);
  }
}

// The switches of a block.
void ResolveBlock(std::string_view field, v1::Model* model,
                  Violations* violations) {
  ResolveChoice({"mlp", {"swiglu", "gelu", "gelu_tanh", "relu"}}, field, model,
                violations);
  const bool norm_valid = ResolveChoice({"norm", {"rmsnorm", "layernorm"}},
                                        field, model, violations);
  ResolveChoice({"attention_bias", {"none", "qkv", "all"}}, field, model,
                violations);
  if (!model->has_tie_embeddings()) model->set_tie_embeddings(false);
  if (!model->has_qk_norm()) model->set_qk_norm(false);
  if (!model->has_causal()) model->set_causal(true);
  if (!model->has_mlp_bias()) model->set_mlp_bias(false);
  if (!model->has_norm_bias()) model->set_norm_bias(false);
  if (!model->has_embedding_norm()) model->set_embedding_norm(false);
  if (!model->has_parallel_residual()) model->set_parallel_residual(false);
  if (norm_valid && model->norm_bias() && model->norm() != "layernorm") {
    violations->push_back({FieldPath(field, "norm_bias"),
                           absl::StrCat("needs norm: layernorm, is ",
                                        model->norm(), "; leave it out")});
  }
}

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

void CheckRank(const v1::TrainSpec& spec, Violations* violations) {
  const int ranks = spec.resources().ranks();
  if (spec.rank() < 0 || spec.rank() >= std::max(ranks, 1)) {
    violations->push_back(
        {"rank", absl::StrCat("must be 0 or more and below resources.ranks, ",
                              ranks, ", is ", spec.rank())});
  }
  if (!spec.host().empty() && ranks <= 1) {
    violations->push_back({"host", "is for several ranks; leave it out"});
  }
}

}  // namespace

const std::vector<Preset>& Presets() {
  static const auto* const presets = new std::vector<Preset>{
      {"tiny", 4, 128, 4, 0, "for a laptop: minutes on two CPU cores"},
      {"small", 12, 768, 12, 3072, "the 155 M model of the TAPE paper"},
      {"base", 16, 1024, 16, 2048, "the addition model of the TAPE paper"},
  };
  return *presets;
}

ModelShape ShapeOf(const v1::Model& model) {
  return {model.layers(),          model.width(),  model.heads(),
          model.key_value_heads(), model.causal(), model.head_width()};
}

int DefaultMlpWidth(int width) {
  constexpr int64_t kMultiple = 32;
  // ceil(8 * width / 3), then up to the next multiple.
  const int64_t least = (int64_t{8} * width + 2) / 3;
  return static_cast<int>((least + kMultiple - 1) / kMultiple * kMultiple);
}

void ResolveModel(std::string_view field, int task_vocabulary_size,
                  v1::Model* model, Violations* violations) {
  ChoiceField choice{"preset", {}};
  for (const Preset& preset : Presets()) choice.choices.push_back(preset.name);
  const Preset* preset = &Presets().front();
  ResolveChoice(choice, field, model, violations);
  for (const Preset& known : Presets()) {
    if (known.name == model->preset()) preset = &known;
  }

  const bool sizes_valid = ResolveNumbers({{"layers", 1, 256, preset->layers},
                                           {"width", 8, 65536, preset->width},
                                           {"heads", 1, 1024, preset->heads}},
                                          field, model, violations);
  if (sizes_valid) ResolveHeadWidth(field, model, violations);
  if (ResolveNumber(
          {"key_value_heads", 1, 1024, static_cast<double>(model->heads())},
          field, model, violations) &&
      sizes_valid && model->heads() % model->key_value_heads() != 0) {
    violations->push_back(
        {FieldPath(field, "key_value_heads"),
         absl::StrCat("must divide heads, is ", model->key_value_heads(),
                      " with ", model->heads(), " heads")});
  }
  // A preset's own MLP belongs to its width.
  const bool preset_mlp =
      preset->mlp_width != 0 && model->width() == preset->width;
  const int mlp_width =
      preset_mlp ? preset->mlp_width : DefaultMlpWidth(model->width());
  ResolveNumbers({{"mlp_width", 1, 262144, mlp_width},
                  // Less than this is lost in fp32.
                  {"norm_epsilon", 1e-30, 1e-1, 1e-5},
                  {"init_std", 1e-30, 1, 0.02},
                  {"sliding_window", 0, 1e7, 0},
                  {"dropout", 0, 0.999999, 0}},
                 field, model, violations);
  ResolveBlock(field, model, violations);

  const int vocabulary_size =
      task_vocabulary_size > 0 ? task_vocabulary_size : kDefaultVocabularySize;
  if (ResolveNumber({"vocabulary_size", 1, 1e7, vocabulary_size}, field, model,
                    violations) &&
      model->vocabulary_size() < task_vocabulary_size) {
    violations->push_back(
        {FieldPath(field, "vocabulary_size"),
         absl::StrCat("the task has ", task_vocabulary_size, " tokens, is ",
                      model->vocabulary_size(),
                      model->from().empty()
                          ? "; leave it out"
                          : ", as in the checkpoint of model.from; take "
                            "another task or checkpoint")});
  }
}

void ResolveEncoding(std::string_view field, const v1::Model& model,
                     v1::Component* encoding, Violations* violations) {
  const size_t num_before = violations->size();
  ResolveComponent(Kind::kEncoding, field, encoding, violations);
  // Sizes that do not fit each other have been complained about.
  const bool sizes_fit = model.heads() > 0 && model.head_width() > 0 &&
                         model.head_width() % 2 == 0;
  if (violations->size() == num_before && sizes_fit) {
    CheckShape(field, *encoding, ShapeOf(model), violations);
  }
}

const Entry* ResolveData(std::string_view field, v1::Data* data,
                         Violations* violations) {
  if (!data->has_seed()) data->set_seed(1);
  const Entry* entry = ResolveName(
      Kind::kTrainingTask, FieldPath(field, "task"), data->task(), violations);
  if (entry != nullptr) {
    ResolveParams(*entry, field, data->mutable_params(), violations);
  }
  return entry;
}

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
}

void ResolveResources(std::string_view field, v1::Resources* resources,
                      Violations* violations, int max_ranks) {
  if (!resources->has_ranks()) resources->set_ranks(1);
  const int ranks = resources->ranks();
  const std::string path = FieldPath(field, "ranks");
  const bool ranks_valid = ranks >= 1 && ranks <= max_ranks;
  if (!ranks_valid && max_ranks == 1) {
    violations->push_back(
        {path, absl::StrCat("only 1 is possible here today, is ", ranks)});
  } else if (!ranks_valid) {
    violations->push_back(
        {path, absl::StrCat("must be 1..", max_ranks, ", is ", ranks)});
  }
  ResolveChoice({"device", {"cpu", "cuda"}, {"gpu", "cuda"}}, field, resources,
                violations);
  ResolveNumber({"threads", 1, 1024, 2}, field, resources, violations);
  // A release that knows none of what follows takes a spec that asks for none.
  const NumberField requests[] = {
      {"devices", 1, 64, 1},
      {"device_memory_bytes", 0, kMaxBytes, 0},
      {"cpus", 0, 1024, 0},
      {"memory_bytes", 0, kMaxBytes, 0},
  };
  for (const NumberField& request : requests) {
    ResolveRequest(request, field, resources, violations);
  }
  base::CheckLabels(resources->labels(),
                    {FieldPath(field, "labels"), kMaxLabels}, violations);
  if (!resources->exclusive()) resources->clear_exclusive();
}

void ResolveEvaluations(
    const EvaluationsContext& context,
    google::protobuf::RepeatedPtrField<v1::Evaluation>* evaluations,
    Violations* violations) {
  if (evaluations->size() > kMaxEvaluations) {
    violations->push_back(
        {context.field, absl::StrCat("has ", evaluations->size(),
                                     " entries; at most ", kMaxEvaluations)});
    return;
  }
  std::map<std::string, std::string> path_of_name;
  for (int i = 0; i < evaluations->size(); ++i) {
    v1::Evaluation* evaluation = evaluations->Mutable(i);
    const std::string path = absl::StrCat(context.field, "[", i, "]");
    const Entry* entry =
        ResolveName(Kind::kEvaluationTask, FieldPath(path, "task"),
                    evaluation->task(), violations);
    // Where the parameters are wrong they do not say.
    bool valid = false;
    bool in_place = entry != nullptr && entry->answers_in_place != nullptr;
    if (entry != nullptr) {
      const size_t num_before = violations->size();
      if (entry->from_training != nullptr && context.trained_on != nullptr) {
        entry->from_training(path, *context.trained_on,
                             evaluation->mutable_params(), violations);
      }
      ResolveParams(*entry, path, evaluation->mutable_params(), violations);
      valid = violations->size() == num_before;
      if (valid) {
        in_place = in_place && entry->answers_in_place(evaluation->params());
        RefuseLongRows(
            FieldPath(path, "params"),
            RowLengthOf(*entry, evaluation->params(), context.max_length),
            violations);
        RefuseManyItems(path, *entry, evaluation->params(), violations);
      }
    }
    const int vocabulary_size =
        VocabularyIfKnown(entry, valid, evaluation->params());
    if (context.vocabulary_size > 0 &&
        vocabulary_size > context.vocabulary_size) {
      violations->push_back(
          {FieldPath(path, "task"),
           absl::StrCat(entry->name, " has ", vocabulary_size,
                        " tokens, the model ", context.vocabulary_size,
                        "; it needs one with a larger vocabulary_size")});
    }
    if (entry != nullptr && !context.causal && !in_place) {
      violations->push_back(
          {FieldPath(path, "task"),
           "answers token by token, which a model with causal: false cannot; "
           "leave out model.causal or the evaluation"});
    }
    ResolveMoment(context, path, evaluation, violations);
    if (!evaluation->has_seed()) evaluation->set_seed(1);
    const bool named = !evaluation->name().empty();
    if (!named) evaluation->set_name(evaluation->task());
    // A name that is that of an unknown task has been complained about.
    if (named || entry != nullptr) {
      CheckName(path, evaluation->name(), &path_of_name, violations);
    }
  }
}

void ResolveTrainingParts(const TrainingParts& parts, Violations* violations) {
  const size_t num_before = violations->size();
  const Entry* task = ResolveData("data", parts.data, violations);
  const bool data_valid = violations->size() == num_before;
  EvaluationsContext context;
  if (parts.model != nullptr) {
    ResolveModel("model",
                 VocabularyIfKnown(task, data_valid, parts.data->params()),
                 parts.model, violations);
    ResolveEncoding("encoding", *parts.model, parts.encoding, violations);
    context.vocabulary_size = parts.model->vocabulary_size();
    context.causal = parts.model->causal();
  } else if (parts.encoding != nullptr) {
    ResolveComponent(Kind::kEncoding, "encoding", parts.encoding, violations);
  }
  if (data_valid) context.trained_on = parts.data;
  if (violations->size() == num_before && parts.encoding != nullptr) {
    context.max_length = MaxLength(*parts.encoding);
    RefuseLongRows("data.params",
                   RowLengthOf(*task, parts.data->params(), context.max_length),
                   violations);
  }
  // Other numbers are complained of below.
  const int ranks = parts.resources->ranks();
  ResolveTraining("training",
                  ranks >= 1 && ranks <= parts.max_ranks ? ranks : 1,
                  parts.training, violations);
  if (violations->size() == num_before && parts.model != nullptr) {
    CheckFineTuning("training", *parts.training, *parts.model, violations);
  }
  ResolveCheckpointPolicy("checkpoint", parts.checkpoint, violations);
  ResolveEvaluations(context, parts.evaluations, violations);
  ResolveResources("resources", parts.resources, violations, parts.max_ranks);
  KernelContext kernels;
  kernels.device = parts.resources->device();
  if (violations->size() == num_before && parts.model != nullptr) {
    kernels.model = parts.model;
    kernels.encoding = parts.encoding;
  }
  CheckTrainingKernel(kernels, *parts.training, violations);
  CheckEvaluationKernels(kernels, *parts.evaluations, violations);
  // Where the data's parameters are wrong they do not say.
  if (data_valid && parts.model != nullptr) {
    RefuseNextTokens(*task, *parts.data, *parts.model, violations);
  }
}

absl::StatusOr<v1::TrainSpec> ResolveTrainSpec(v1::TrainSpec spec) {
  Violations violations;
  if (!spec.model().from().empty()) {
    violations.push_back({"model.from",
                          "is for jobs, where the scheduler finds the "
                          "checkpoint; name its folder in base.path"});
  }
  ResolveIdentity(&spec, &violations);
  ResolveTrainingParts(
      {spec.mutable_data(), spec.mutable_model(), spec.mutable_encoding(),
       spec.mutable_training(), spec.mutable_checkpoint(),
       spec.mutable_evaluations(), spec.mutable_resources(), kMaxRanks},
      &violations);
  CheckRank(spec, &violations);
  for (int i = 0; i < spec.resume_size(); ++i) {
    ResolveSource(absl::StrCat("resume[", i, "]"), spec.resume(i), &violations);
  }
  if (spec.has_start()) ResolveSource("start", spec.start(), &violations);
  if (spec.has_base()) ResolveSource("base", spec.base(), &violations);
  if (spec.has_start() && spec.has_base()) {
    violations.push_back({"base",
                          "not beside start, which brings its own weights; "
                          "leave one of them out"});
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

absl::StatusOr<v1::EvaluateSpec> ResolveEvaluateSpec(v1::EvaluateSpec spec) {
  Violations violations;
  ResolveIdentity(&spec, &violations);
  if (spec.checkpoints().empty()) {
    violations.push_back({"checkpoints", "name at least one"});
  }
  for (int i = 0; i < spec.checkpoints_size(); ++i) {
    ResolveSource(absl::StrCat("checkpoints[", i, "]"), spec.checkpoints(i),
                  &violations);
  }
  if (spec.evaluations().empty()) {
    violations.push_back({"evaluations", "name at least one"});
  }
  ResolveEvaluations({"evaluations", /*in_training=*/false, 0},
                     spec.mutable_evaluations(), &violations);
  // Whether it fits a model is found when that is loaded.
  if (spec.has_encoding()) {
    ResolveComponent(Kind::kEncoding, "encoding", spec.mutable_encoding(),
                     &violations);
  }
  ResolveResources("resources", spec.mutable_resources(), &violations);
  CheckEvaluationKernels({nullptr, nullptr, spec.resources().device()},
                         spec.evaluations(), &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

absl::StatusOr<v1::BenchmarkSpec> ResolveBenchmarkSpec(v1::BenchmarkSpec spec) {
  Violations violations;
  ResolveIdentity(&spec, &violations);
  ResolveResources("resources", spec.mutable_resources(), &violations);
  ResolveBenchmark("benchmark", spec.resources(), spec.mutable_benchmark(),
                   &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  return spec;
}

}  // namespace ordo::model::catalog
