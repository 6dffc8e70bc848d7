#ifndef ORDO_MODEL_CATALOG_ENTRIES_H_
#define ORDO_MODEL_CATALOG_ENTRIES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/catalog.h"

// The table itself, a function for each family of entries, and what they write
// it with.

namespace ordo::model::catalog {

std::vector<Entry> BiasEntries();
std::vector<Entry> ContentEntries();
std::vector<Entry> InputEntries();
std::vector<Entry> InsideEntries();
std::vector<Entry> RetrievalEntries();
std::vector<Entry> RotaryEntries();
std::vector<Entry> StateEntries();
std::vector<Entry> CombiningEntries();
std::vector<Entry> CompositionalEntries();
std::vector<Entry> LengthTaskEntries();
std::vector<Entry> ScrollsEntries();
std::vector<Entry> TaskEntries();
std::vector<Entry> TextEntries();

// The same task for training and for evaluation, with what the kind has of its
// own beside the parameters of both.
Entry OfKind(Kind kind, Entry entry, std::vector<Param> own = {});

// How many rows an evaluation asks for.
Param Samples(int64_t samples, std::string text);

// An evaluation task of that version (EvaluationTraits).
Entry OfVersion(int version, Entry entry);

// An evaluation task whose items score so.
Entry OfScores(ItemScores scores, Entry entry);

// What text is and how it becomes tokens, of training and of evaluations; and
// what evaluations have beside that.
std::vector<Param> TextSource();
std::vector<Param> TextEvaluated();

// Tokens of a task with these parameters; 0: only its tokenizer's file says.
int TextVocabulary(const ParamMap& params);

// Complains about an evaluation's TextSource and TextEvaluated. Where data or
// tokenizer are left out they are those of the training, which is not known in
// all places.
void CheckTextEvaluated(std::string_view field, const ParamMap& map,
                        std::vector<base::FieldViolation>* violations);

// Complains about what is neither kByteTokenizer nor the path of a tokenizer's
// file.
void CheckTokenizer(std::string_view field, const std::string& tokenizer,
                    std::vector<base::FieldViolation>* violations);

// Whether a model of this training has read the tokenizer's mark of a
// beginning; nothing where its parameters do not say, as of flat token files
// and of tasks that are not in words.
std::optional<bool> ReadsBeginnings(const ordo::training::v1::Data& training);

// An evaluation whose prompts are bytes, or tokens of a file that its parameter
// `tokenizer`, or the training, names. CheckPromptTokens is its check, and a
// part of that which it has.
Entry InTokens(Entry entry);
void CheckPromptTokens(std::string_view field, const ParamMap& params,
                       std::vector<base::FieldViolation>* violations);

// Whether a parameter `tokenizer` is there, and the path of a file.
bool NamesTokenizerFile(const ParamMap& params);

// An evaluation of a model that was trained on the task `text`.
struct TextTraining {
  const Entry& evaluation;
  std::string_view field;
  // Resolved.
  const ordo::training::v1::Data& trained_on;
};

// Takes TextSource and TextEvaluated from the training where they are left out.
void TakeTextTrainedOn(const TextTraining& training, ParamMap* params,
                       std::vector<base::FieldViolation>* violations);

// An evaluation task that may be asked for at several lengths (lengths.h).
Entry WithLengths(LengthAxis axis, Entry entry);

// All of them, in no particular order.
std::vector<Entry> AllEntries();

// Fills in what the entries of random_positions and per_layer may have with
// them: whatever of the others, by their traits, can be.
void LinkCombining(std::vector<Entry>* all);

// Channels of a head, the first ones, that rope turns; even where the encoding
// is valid. `params` are rope's, resolved.
int TurningChannels(const ParamMap& params, int head_width);

// Names, sorted, of the rotary family: of those that turn q and k by position
// and may stand with others. rope_bias, which leaves the turning to another,
// and random_rope, which stands alone, are not among them.
const std::vector<std::string>& RotaryNames();

// Whether an encoding turns q and k by position: EncodingTraits::rotates.
bool IsRotary(std::string_view name);

// Names, sorted, of the encodings that add a bias of the distance to the
// logits: those that may stand beside the rotary family.
const std::vector<std::string>& BiasNames();

// Furthest distance from its centre at which xpos's factors, and their products
// with values of common size, stay within fp32.
int64_t XposReach(double scale_base);

// Whether a resolved tape component trains the frequencies that its state
// starts from: over yarn, as the authors' code has it.
bool TrainsFrequencies(const ordo::training::v1::Component& component);

// Widths of a head under a resolved tape component: of its q and k once the
// state has turned them, and of the state that is mixed beside v; 0: none is.
int64_t TapeQueryWidth(const ordo::training::v1::Component& component,
                       const ModelShape& shape);
int64_t TapeMixedWidth(const ordo::training::v1::Component& component,
                       const ModelShape& shape);

// Channels of the first of an axial encoding's tables. `params` are axial's,
// resolved.
int64_t FirstAxialWidth(const ParamMap& params, int width);

// Parameters `rows` and `columns` of a grid, and the number of its cells.
std::vector<Param> GridSides();
int64_t GridSize(const ordo::training::v1::Component& component);

// Names, sorted, of the encodings among `entries` of which `test` holds.
std::vector<std::string> NamesOf(const std::vector<Entry>& entries,
                                 bool (*test)(const EncodingTraits& traits));

// An encoding's entry with its name, text and source.
Entry EncodingEntry(std::string name, std::string text, std::string source);

// The path of a parameter of the component at `field`.
std::string ParamPath(std::string_view field, std::string_view name);

// What is wrong with the text of a path of data, or nothing. Where it leads is
// not known here.
std::string PathProblem(const std::string& path);

// The same parameter, whose value is such a path (Param::names_data).
Param OfData(Param param);

// Complains about a model of odd width, for encodings that have a sine and a
// cosine of each of its angles.
void CheckEvenWidth(std::string_view field,
                    const ordo::training::v1::Component& component,
                    const ModelShape& shape,
                    std::vector<base::FieldViolation>* violations);

// Parameters. A choice's first value is the default.
struct Range {
  std::optional<double> min;
  std::optional<double> max;
  std::string unit = "1";
};
Param Integer(std::string name, int64_t value, Range range, std::string text);
Param Number(std::string name, double value, Range range, std::string text);
Param Numbers(std::string name, Range range, std::string text);
Param Bool(std::string name, bool value, std::string text);
Param String(std::string name, std::string value, std::string text);
Param Strings(std::string name, std::string text);
Param Choice(std::string name, std::vector<std::string> choices,
             std::string text);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_ENTRIES_H_
