#ifndef ORDO_MODEL_CATALOG_CATALOG_H_
#define ORDO_MODEL_CATALOG_CATALOG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "base/status/details.h"
#include "google/protobuf/struct.pb.h"
#include "model/catalog/micro_batch.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What encodings and tasks are called and what they take: the one list that the
// command line, the scheduler and the trainer share. Free of LibTorch. A test
// compares it with the registries of model/encodings and model/tasks both ways.
// Everything here is immutable after start-up and safe to use from any thread.

namespace ordo::model::catalog {

enum class Kind {
  kEncoding,
  // Makes training samples; named by Data.task.
  kTrainingTask,
  // Measures a model; named by Evaluation.task.
  kEvaluationTask,
};

// For people: "encoding", "training task", "evaluation task".
std::string_view KindName(Kind kind);

enum class ParamType {
  kInteger,
  kNumber,
  kBool,
  kString,
  kNumbers,
  kStrings,
  // Numbers, or multiples of a trained length as "2x": lengths.h.
  kLengths,
};

// For people: "integer", "number", "bool", "string", "list of numbers",
// "list of strings", "list of lengths".
std::string_view TypeName(ParamType type);

using ParamValue = std::variant<int64_t, double, bool, std::string,
                                std::vector<double>, std::vector<std::string>>;

struct Param {
  std::string name;
  ParamType type;
  // Of the alternative that `type` names.
  ParamValue default_value;
  // Inclusive bounds of an integer, a number, or each number of a list.
  std::optional<double> min;
  std::optional<double> max;
  // Values that a string may have; empty: any.
  std::vector<std::string> choices;
  // Of a number, and of each of a list; "1" for pure ones. Empty otherwise.
  std::string unit;
  // One sentence: what it does.
  std::string text;
  // Its value, or each of its list, is a path of data: below data/ of the
  // storage root, or whole. But an empty one, and kByteTokenizer.
  bool names_data = false;
  // Whether the default is filled in where it is left out. Otherwise it stays
  // out: specs without it are those of releases that did not have it.
  bool filled_in = true;
};

// What a parameter that names a tokenizer may say in the place of a path.
inline constexpr char kByteTokenizer[] = "bytes";

using ParamMap = google::protobuf::Map<std::string, google::protobuf::Value>;

// What an encoding needs to know of the model.
struct ModelShape {
  int layers = 0;
  int width = 0;
  int heads = 0;
  // Heads of keys and values, a divisor of `heads`; 0: as many.
  int key_heads = 0;
  // Whether a token sees those before it only.
  bool causal = true;
  // 0: width / heads.
  int own_head_width = 0;

  int head_width() const {
    return own_head_width == 0 ? width / heads : own_head_width;
  }
  int num_key_heads() const { return key_heads == 0 ? heads : key_heads; }
};

// Appends what does not fit a model's shape, or another parameter, of an
// encoding whose parameters are each in their range; `field` is the path of the
// component.
using ShapeCheck = void (*)(std::string_view field,
                            const ordo::training::v1::Component& component,
                            const ModelShape& shape,
                            std::vector<base::FieldViolation>* violations);

// Number of parameters over all layers, with those of encodings `with` it
// unless they act beside it.
using ParameterCount = int64_t (*)(
    const ordo::training::v1::Component& component, const ModelShape& shape);

// Number of positions that an encoding has room for, ids being below it, or
// otherwise treats alike.
using LengthLimit = int64_t (*)(const ordo::training::v1::Component& component);

// Whether something holds of a resolved component.
using ComponentTest = bool (*)(const ordo::training::v1::Component& component);

// How work is counted; see model/cost/cost.h.
enum class CostConvention {
  // What this implementation does.
  kModel,
  // As table 3 of the TAPE paper has it.
  kTapeTable3,
};

// Asks what an encoding adds to one forward pass over one row.
struct CostQuery {
  CostConvention convention = CostConvention::kModel;
  // The layer; kInputLayer: what is done once, before the first.
  int layer = 0;
  // The first layer that the encoding acts in.
  int first_layer = 0;
  // Tokens of the row.
  int64_t tokens = 0;
  // Pairs of a query and a key that it sees.
  int64_t pairs = 0;
  // It stands `with` an encoding that turns q and k.
  bool turned = false;
};
inline constexpr int kInputLayer = -1;

struct ExtraCost {
  // Multiplications with addition in products of matrices.
  int64_t macs = 0;
  // Operations beside the two of each of those.
  int64_t flops = 0;
  // Values that decoding keeps of each token, beside k and v.
  int64_t state = 0;
};

using CostCount = ExtraCost (*)(const ordo::training::v1::Component& component,
                                const ModelShape& shape,
                                const CostQuery& query);

// Most tokens that a model sees in a row of a task with these parameters.
using RowLength = int64_t (*)(const ParamMap& params);

// Items that an evaluation with these parameters has for each of its samples.
using ItemCount = int64_t (*)(const ParamMap& params);

// Whether something holds of a task with these parameters.
using TaskTest = bool (*)(const ParamMap& params);

// Tokens of the vocabulary of a task with these parameters; 0: the parameters
// do not say.
using VocabularySize = int (*)(const ParamMap& params);

// Appends what is wrong with parameters of which each is in its range; `field`
// is the path of the message that holds them.
using ParamsCheck = void (*)(std::string_view field, const ParamMap& params,
                             std::vector<base::FieldViolation>* violations);

// Fills in what an evaluation takes from the training of its model where its
// parameters leave it out, and appends what does not go together; `trained_on`
// is resolved, the parameters are not yet.
using ParamsFromTraining =
    void (*)(std::string_view field, const ordo::training::v1::Data& trained_on,
             ParamMap* params, std::vector<base::FieldViolation>* violations);

// What decoding with cached keys and values gives.
enum class Decoding {
  // The logits of a full pass.
  kCached,
  // The same up to the trained length. Past it rotations depend on the length,
  // so that only the last row has those of a full pass, and only in a model of
  // one layer: what a later layer reads of earlier tokens was made at theirs.
  kLastRow,
  // Nothing: it is refused.
  kNone,
};

// What holds for an encoding beside its parameters.
struct EncodingTraits {
  // The formula, in plain text.
  std::string formula;
  // What happens past the trained length.
  std::string beyond;
  // Its parameters, for people: "32 H, shared by layers"; empty: none.
  std::string parameters;
  // What they start with, for people; empty where there are none.
  std::string initial;
  // Null: none.
  ParameterCount count_parameters = nullptr;
  // Never null in the catalogue: CostOfNothing (extra_cost.h) where it adds
  // nothing.
  CostCount count_cost = nullptr;
  // Null: no limit.
  LengthLimit limit_length = nullptr;
  // Tokens of the longest row in which what it does to a token does not depend
  // on how many there are. Null: of any.
  LengthLimit steady_length = nullptr;
  Decoding decoding = Decoding::kCached;
  // A shift of all position ids changes nothing.
  bool relative = true;
  // The same of a component, where its parameters decide; null: as `relative`
  // says.
  ComponentTest is_relative = nullptr;
  // Defined under a causal mask only.
  bool causal_only = false;
  // Turns q and k by the position.
  bool rotates = false;
  // Adds a bias of the distance to the logits, which may stand beside what
  // rotates.
  bool biases_distances = false;
  // A state travels from layer to layer, so all layers need it.
  bool carries_state = false;
  // Acts on the input, in no layer.
  bool at_input = false;
  // Reads position ids.
  bool takes_positions = true;
  // Draws position ids in evaluation, for a row's length, unless they are
  // given.
  bool draws_positions = false;
  // Under the causal mask defined only where position ids never go back along a
  // row: distances start at 0.
  bool ordered_positions = false;
  // Names of the kernels that can compute it, best first, and "reference" for
  // all; and why none is for a GPU, empty where one is. Filled in from its
  // class (attention_classes.h).
  std::vector<std::string> kernels = {};
  std::string no_cuda_kernel = "";
  // The encodings `with` it act beside it; otherwise it makes use of them
  // itself.
  bool sums_with = false;
  // The encodings `with` it never meet each other: each acts in layers of its
  // own, or all act on what it gives. It does not count as one that acts.
  bool separates = false;
  // Null where every shape will do.
  ShapeCheck check_shape = nullptr;
};

// What the score of an item says. More is better in all of them.
enum class ItemScores {
  // 1 or 0.
  kRightOrWrong,
  // How much of an answer is right, from 0 to 1.
  kShares,
  // ln p by the number of tokens: at most 0, and without a bound below.
  kLogLikelihoods,
  // Items have none: there is nothing that a gate could compare.
  kNone,
};

// For people: "right or wrong, 1 or 0".
std::string_view ItemScoresText(ItemScores scores);

// The largest score less the smallest; infinite without bounds.
double ScoreRange(ItemScores scores);

// The length that a task's questions have.
struct LengthAxis {
  // Parameters that are that length, in its stead where `lengths` are named;
  // empty: the task reads `lengths` itself.
  std::vector<std::string> params = {};
  // The training task of the same length, and the parameter that says up to
  // which it is trained. Empty: the task has no length of this kind.
  std::string trained_task = {};
  std::string trained_param = {};
  // A parameter that cuts rows, which would be cut to those of a smaller
  // length: at lengths beyond that of `params` it grows in proportion. Empty:
  // none does.
  std::string limit_param = {};
};

// What results of an evaluation task depend on beside its parameters, its seed
// and the model.
struct EvaluationTraits {
  // Raised by whatever gives the same parameters and seed other questions,
  // other right answers, other scores or passes of another shape: results of
  // two versions are not compared, and none is taken for one of the other.
  int version = 1;
  MicroBatchShape micro_batch;
  // Items that each of `samples` stands for, such as the cells of a grid. Null:
  // one.
  ItemCount items_per_sample = nullptr;
  ItemScores item_scores = ItemScores::kRightOrWrong;
  // Some items of a set that is made depend on each other: they are of one
  // unit (EvaluationTask::UnitId).
  bool shares_units = false;
  LengthAxis length = {};
  // What a person has to know to read the questions and answers: a clause.
  // Empty: they say it themselves.
  std::string notation = {};
};

struct Entry {
  Kind kind;
  // snake_case, unique among entries of its kind.
  std::string name;
  // One sentence.
  std::string text;
  // Where it is from, as a reference for people.
  std::string source;
  std::vector<Param> params;
  // Names of the encodings that may be given `with` this one.
  std::vector<std::string> with;
  // Most components that may be given `with` this one at once, and least.
  int max_with = 0;
  int min_with = 0;
  // Of a task: the name of its vocabulary. Tasks with the same have the same
  // tokens. Where it has a parameter `tokenizer`: what stands for one that is
  // left out; empty: what is not known. Otherwise empty: the task's name.
  std::string vocabulary = {};
  // Number of tokens of a task's vocabulary; 0 for encodings.
  int vocabulary_size = 0;
  // Of a task, where parameters decide; null: as `vocabulary_size` says.
  VocabularySize vocabulary_of = nullptr;
  // Of a task. Null: what is in its range is right.
  ParamsCheck check_params = nullptr;
  // Of an evaluation task. Null: it takes nothing.
  ParamsFromTraining from_training = nullptr;
  // Of a task: most tokens that the model sees in a row.
  RowLength row_length = nullptr;
  // Of an evaluation task: whether its answers are read where they are asked
  // for, so that a model may see what comes later. Null: a token is what the
  // model says after those before it, for which it has to be causal.
  TaskTest answers_in_place = nullptr;
  // Of an evaluation task.
  EvaluationTraits evaluation;
  // Of an encoding.
  EncodingTraits encoding;
};

// Everything there is, sorted by kind, then name.
const std::vector<Entry>& Entries();

// The entries of one kind, by name.
std::vector<const Entry*> EntriesOf(Kind kind);

// The entry, or nullptr.
const Entry* Find(Kind kind, std::string_view name);

// The parameter, or nullptr.
const Param* FindParam(const Entry& entry, std::string_view name);

// Tokens of a task's vocabulary with these parameters, which are resolved; 0:
// only what the parameters name says.
int VocabularyOf(const Entry& task, const ParamMap& params);

// The default as it stands in a spec.
google::protobuf::Value DefaultValue(const Param& param);

// For people: "1..4096", ">= 0", "half_split | interleaved", or empty.
std::string RangeText(const Param& param);

// Checks `params` against `entry` and fills in the defaults of those left out.
// Appends everything wrong to `violations`, sorted by parameter; `field` is the
// path of the message that holds the params ("encoding", "evaluations[0]"; may
// be empty).
void ResolveParams(const Entry& entry, std::string_view field, ParamMap* params,
                   std::vector<base::FieldViolation>* violations);

// The entry called `name`, or nullptr and a violation of `field`, which names
// the nearest valid name.
const Entry* ResolveName(Kind kind, std::string_view field,
                         std::string_view name,
                         std::vector<base::FieldViolation>* violations);

// ResolveName and ResolveParams of a component and of those `with` it.
void ResolveComponent(Kind kind, std::string_view field,
                      ordo::training::v1::Component* component,
                      std::vector<base::FieldViolation>* violations);

// Appends what of an encoding, which ResolveComponent has accepted, and of
// those `with` it does not fit a model.
void CheckShape(std::string_view field,
                const ordo::training::v1::Component& encoding,
                const ModelShape& shape,
                std::vector<base::FieldViolation>* violations);

// Number of parameters of a resolved encoding and of those `with` it.
int64_t CountParameters(const ordo::training::v1::Component& encoding,
                        const ModelShape& shape);

// What a resolved encoding and those `with` it add to a pass.
ExtraCost CountCost(const ordo::training::v1::Component& encoding,
                    const ModelShape& shape, const CostQuery& query);

// The least of the limits of a resolved encoding and of those `with` it; 0 for
// none.
int64_t MaxLength(const ordo::training::v1::Component& encoding);

// Tokens of the longest row in which what a resolved encoding, and those `with`
// it, do to a token does not depend on how many there are; 0: of any.
int64_t SteadyLength(const ordo::training::v1::Component& encoding);

// Whether a shift of all position ids changes nothing, of a resolved encoding
// and of those `with` it.
bool IsRelative(const ordo::training::v1::Component& encoding);

// The name of an encoding, this one or one of those `with` it, for the sake of
// which position ids may not go back along a row under the causal mask; empty
// for none.
std::string NeedsOrderedPositions(
    const ordo::training::v1::Component& encoding);

// Typed access to parameters that ResolveParams has accepted. A parameter that
// is missing or of another type is a programmer's error. Keeps a reference.
class Params {
 public:
  explicit Params(const ParamMap& map) : map_(map) {}

  // Whether it is there: of those that are not filled in.
  bool Has(const std::string& name) const;
  int64_t Integer(const std::string& name) const;
  double Number(const std::string& name) const;
  bool Bool(const std::string& name) const;
  std::string String(const std::string& name) const;
  std::vector<double> Numbers(const std::string& name) const;
  std::vector<std::string> Strings(const std::string& name) const;

 private:
  const google::protobuf::Value& Get(const std::string& name) const;

  const ParamMap& map_;
};

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_CATALOG_H_
