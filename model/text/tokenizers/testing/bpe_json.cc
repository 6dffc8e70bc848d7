#include "model/text/tokenizers/testing/bpe_json.h"

#include "model/text/tokenizers/byte_alphabet.h"

namespace ordo::model::text::tokenizers::testing {

nlohmann::ordered_json BpeJson(const std::vector<std::string>& merges) {
  auto json = nlohmann::ordered_json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
                      "trim_offsets": true, "use_regex": true},
    "post_processor": null,
    "decoder": {"type": "ByteLevel", "add_prefix_space": true,
                "trim_offsets": true, "use_regex": true},
    "model": {"type": "BPE", "dropout": null, "unk_token": null,
              "continuing_subword_prefix": null, "end_of_word_suffix": null,
              "fuse_unk": false, "byte_fallback": false,
              "ignore_merges": false, "vocab": {}, "merges": []}
  })");
  auto& vocabulary = json["model"]["vocab"];
  int id = 0;
  for (; id < 256; ++id) {
    vocabulary[PrintableOfBytes(std::string(1, static_cast<char>(id)))] = id;
  }
  for (const std::string& merge : merges) {
    std::string joined = merge;
    joined.erase(joined.find(' '), 1);
    if (vocabulary.emplace(joined, id).second) ++id;
    json["model"]["merges"].push_back(merge);
  }
  json["added_tokens"].push_back({{"id", id},
                                  {"content", "<|endoftext|>"},
                                  {"single_word", false},
                                  {"lstrip", false},
                                  {"rstrip", false},
                                  {"normalized", false},
                                  {"special", true}});
  return json;
}

}  // namespace ordo::model::text::tokenizers::testing
