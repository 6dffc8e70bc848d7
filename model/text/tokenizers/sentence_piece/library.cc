#include "model/text/tokenizers/sentence_piece/library.h"

#include <memory>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ordo::model::text::tokenizers::sentence_piece {
namespace {

using Processor = sentencepiece::SentencePieceProcessor;

void Give(const Sink& sink, std::string_view bytes) {
  sink.take(sink.to, {bytes.data(), bytes.size()});
}

// Whether all is well; otherwise `error` takes why.
bool IsFine(const sentencepiece::util::Status& status, const Sink& error) {
  if (!status.ok()) Give(error, status.ToString());
  return status.ok();
}

const Processor& Of(const void* model) {
  return *static_cast<const Processor*>(model);
}

void* Load(Bytes file, const Sink& error) {
  auto processor = std::make_unique<Processor>();
  if (!IsFine(processor->LoadFromSerializedProto({file.data, file.size}),
              error)) {
    return nullptr;
  }
  return processor.release();
}

int VocabularySize(const void* model) { return Of(model).GetPieceSize(); }
int Begin(const void* model) { return Of(model).bos_id(); }
int End(const void* model) { return Of(model).eos_id(); }
void Drop(void* model) { delete static_cast<Processor*>(model); }

bool Encode(const void* model, Bytes text, const Sink& ids, const Sink& error) {
  std::vector<int> encoded;
  if (!IsFine(Of(model).Encode({text.data, text.size}, &encoded), error)) {
    return false;
  }
  Give(ids, {reinterpret_cast<const char*>(encoded.data()),
             encoded.size() * sizeof(int)});
  return true;
}

bool Decode(const void* model, Ids ids, const Sink& text, const Sink& error) {
  std::string decoded;
  const std::vector<int> all(ids.data, ids.data + ids.size);
  if (!IsFine(Of(model).Decode(all, &decoded), error)) return false;
  Give(text, decoded);
  return true;
}

// Texts as the trainer wants them.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const TextSource& texts) : texts_(texts) { Next(); }

  bool done() const override { return done_; }
  void Next() override {
    Bytes text;
    done_ = !texts_.next(texts_.from, &text);
    if (!done_) text_.assign(text.data, text.size);
  }
  const std::string& value() const override { return text_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const TextSource texts_;
  bool done_ = false;
  std::string text_;
};

bool Train(Names options, const TextSource& texts, const Sink& model,
           const Sink& error) {
  std::unordered_map<std::string, std::string> named;
  for (size_t i = 0; i < options.size; ++i) {
    const std::string_view option = options.data[i];
    const size_t at = option.find('=');
    named.emplace(option.substr(0, at), option.substr(at + 1));
  }
  Sentences sentences(texts);
  std::string trained;
  if (!IsFine(sentencepiece::SentencePieceTrainer::Train(named, &sentences,
                                                         &trained),
              error)) {
    return false;
  }
  Give(model, trained);
  return true;
}

}  // namespace
}  // namespace ordo::model::text::tokenizers::sentence_piece

extern "C" const ordo::model::text::tokenizers::sentence_piece::Library*
OrdoSentencePiece() {
  namespace own = ordo::model::text::tokenizers::sentence_piece;
  static constexpr own::Library kLibrary = {
      sizeof(own::Library), own::Load, own::VocabularySize,
      own::Begin,           own::End,  own::Encode,
      own::Decode,          own::Drop, own::Train};
  return &kLibrary;
}
