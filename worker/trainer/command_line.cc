#include "worker/trainer/command_line.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/nearest.h"

namespace ordo::worker::trainer {
namespace {

struct FlagRow {
  const char* name;
  bool required;
  bool has_value;
};

struct CommandRow {
  const char* name;
  bool has_spec;
  std::vector<FlagRow> flags;
  // Its arguments, and what it does.
  const char* synopsis;
  const char* help;
};

// Of a job's attempts.
std::vector<CommandRow> JobCommands() {
  return {
      {"train",
       true,
       {{"--out", true, true},
        {"--storage-root", false, true},
        {"--data-roots", false, true},
        {"--deployment", false, true},
        {"--without-kernels", false, true},
        {"--rank", false, true},
        {"--host", false, true},
        {"--resume", false, false}},
       "TASK --out DIR [--resume] [--rank R] [--host HOST] [--storage-root "
       "ROOT] [--data-roots DIRS] [--deployment DIR] [--without-kernels NAMES]",
       "Trains; checkpoints, metrics.jsonl and event files go to DIR. A task "
       "with resources.ranks N is N such processes, R from 0 to N-1, with one "
       "DIR; HOST is where the others reach this one (default 127.0.0.1: all "
       "on this machine). NAMES, with commas between them, are kernels that "
       "`probe` found wrong. Data that tasks read lies in ROOT/data and DIRS, "
       "absolute folders with colons between them."},
      {"evaluate",
       true,
       {{"--out", true, true},
        {"--encoding", false, true},
        {"--storage-root", false, true},
        {"--data-roots", false, true},
        {"--deployment", false, true},
        {"--without-kernels", false, true}},
       "TASK --out DIR [--encoding ENCODING] [--storage-root ROOT] "
       "[--data-roots DIRS] [--deployment DIR] [--without-kernels NAMES]",
       "Evaluates checkpoints, with another encoding than theirs where one is "
       "given; reports go to DIR. Relative paths are looked for under ROOT, "
       "data in ROOT/data and DIRS."},
      {"benchmark",
       true,
       {{"--out", true, true},
        {"--storage-root", false, true},
        {"--deployment", false, true},
        {"--without-kernels", false, true}},
       "TASK --out DIR [--storage-root ROOT] [--deployment DIR] "
       "[--without-kernels NAMES]",
       "Measures attention kernels beside LibTorch's; the report goes to "
       "DIR."},
      {"summarize",
       true,
       {{"--out", true, true},
        {"--storage-root", false, true},
        {"--deployment", false, true},
        {"--without-kernels", false, true}},
       "TASK --out DIR [--storage-root ROOT] [--deployment DIR] "
       "[--without-kernels NAMES]",
       "Sums up the jobs of a sweep, comparison or pipeline, which lie under "
       "ROOT; the report goes to DIR. TASK may also be a binary message, "
       ".pb."},
      {"gate",
       true,
       {{"--out", true, true},
        {"--storage-root", false, true},
        {"--data-roots", false, true},
        {"--deployment", false, true},
        {"--without-kernels", false, true}},
       "TASK --out DIR [--storage-root ROOT] [--data-roots DIRS] "
       "[--deployment DIR] [--without-kernels NAMES]",
       "Says whether a checkpoint is worse than another, item by item; the "
       "verdict is in the report, not in the exit code. Reports go to DIR, "
       "relative paths are looked for under ROOT, data in ROOT/data and "
       "DIRS."},
  };
}

std::vector<CommandRow> CheckpointCommands() {
  return {
      {"generate",
       false,
       {{"--checkpoint", true, true},
        {"--prompt", true, true},
        {"--max-tokens", false, true},
        {"--storage-root", false, true},
        {"--data-roots", false, true},
        {"--kernel", false, true},
        {"--threads", false, true}},
       "--checkpoint DIR --prompt TEXT [--max-tokens N] [--kernel NAME] "
       "[--threads N] [--storage-root ROOT] [--data-roots DIRS]",
       "Decodes greedily. The texts are those of the task that the model was "
       "trained on; numbers of `addition` have their least significant digit "
       "first: 21+43= is answered by 64 for 12 + 34. A tokenizer that is a "
       "file is "
       "looked for in ROOT/data and DIRS."},
      {"logits",
       false,
       {{"--checkpoint", true, true},
        {"--tokens", true, true},
        {"--out", true, true},
        {"--encoding", false, true},
        {"--kernel", false, true},
        {"--threads", false, true}},
       "--checkpoint DIR --tokens FILE.safetensors --out FILE.safetensors "
       "[--encoding ENCODING] [--kernel NAME] [--threads N]",
       "Logits float32 [B,T,V] of int64 tokens [B,T], with optional positions "
       "and attention_mask [B,T]."},
      {"convert",
       false,
       {{"--checkpoint", true, true},
        {"--out", true, true},
        {"--encoding", false, true}},
       "--checkpoint DIR --out DIR [--encoding ENCODING]",
       "Between Hugging Face's form of a checkpoint and Ordo's."},
      {"merge",
       false,
       {{"--checkpoint", true, true}, {"--out", true, true}},
       "--checkpoint DIR --out DIR",
       "Adds low-rank adapters to the weights that they adapt."},
  };
}

std::vector<CommandRow> OtherCommands() {
  return {
      {"cost",
       true,
       {{"--tokens", false, true},
        {"--convention", false, true},
        {"-o", false, true}},
       "TASK [--tokens N] [--convention model|tape_table3] [-o table|json]",
       "Parameters, MACs, FLOPs and bytes of attention state, by layer and in "
       "all."},
      {"probe",
       false,
       {{"--device", true, true},
        {"-o", false, true},
        {"--deployment", false, true}},
       "--device cpu:0|cuda:N [-o table|json] [--deployment DIR]",
       "Runs each kernel for the device on small problems and compares it with "
       "the reference, each in a process of its own. What is wrong is in the "
       "report, not in the exit code."},
      {"train-tokenizer",
       false,
       {{"--data", true, true},
        {"--out", true, true},
        {"--vocabulary-size", true, true},
        {"--type", false, true},
        {"--format", false, true},
        {"--field", false, true}},
       "--data PATHS --out FILE.model --vocabulary-size N "
       "[--type bpe|unigram] [--format file|lines|json_lines] [--field NAME]",
       "Trains a SentencePiece model, as Llama-2's are, for jobs on text to "
       "name as their tokenizer. PATHS, with colons between them, are files "
       "and folders of UTF-8 text, also as .gz or .zst, of which the first "
       "256 MiB are read. The same text makes the same file."},
      {"help", false, {}, "", "Says this."},
      {"version",
       false,
       {},
       "",
       "Says which build this is: the SHA-256 of this program."},
  };
}

const std::vector<CommandRow>& Commands() {
  static const auto* const commands = [] {
    auto* const all = new std::vector<CommandRow>;
    for (const auto& part :
         {JobCommands(), CheckpointCommands(), OtherCommands()}) {
      all->insert(all->end(), part.begin(), part.end());
    }
    return all;
  }();
  return *commands;
}

template <typename Rows>
std::vector<std::string> NamesOf(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

template <typename Rows>
const typename Rows::value_type* Find(const Rows& rows,
                                      const std::string& name) {
  for (const auto& row : rows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

constexpr char kTaskHelp[] =
    "TASK is a file (.yaml, .json, .textproto) with one attempt of a job: its "
    "job and\nattempt (from 1), then model, encoding, data, training, "
    "checkpoint, evaluations and\nresources as in a job file; `evaluate` takes "
    "checkpoints and evaluations,\n`benchmark` takes benchmark and resources, "
    "`gate` subjects, evaluations and gate.\nThe task of a job that has run is "
    "task.json in the folder of its attempt. A job\nfile itself is run by "
    "`ordo submit`.\n";

absl::Status Bad(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

// Reads the flag at arguments[*i], and its value; *i is left at the last one.
absl::Status ParseFlag(const CommandRow& command,
                       const std::vector<std::string>& arguments, size_t* i,
                       CommandLine* line) {
  std::string name = arguments[*i];
  std::string value;
  const size_t equals = name.find('=');
  const bool inline_value = equals != std::string::npos;
  if (inline_value) {
    value = name.substr(equals + 1);
    name.resize(equals);
  }
  const FlagRow* flag = Find(command.flags, name);
  if (flag == nullptr) {
    return Bad(absl::StrCat(command.name, " has no flag ", name,
                            base::SuggestName(name, NamesOf(command.flags))));
  }
  if (!flag->has_value) {
    if (inline_value) return Bad(absl::StrCat(name, " takes no value"));
    value = "true";
  } else if (!inline_value) {
    if (*i + 1 == arguments.size()) {
      return Bad(absl::StrCat(name, " needs a value"));
    }
    value = arguments[++*i];
  }
  if (!line->flags.emplace(name, value).second) {
    return Bad(absl::StrCat(name, " is given twice"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string CommandLine::Flag(const std::string& name) const {
  const auto found = flags.find(name);
  return found == flags.end() ? "" : found->second;
}

absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments) {
  if (arguments.empty()) return Bad("no command");
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h")
      return CommandLine{"help", {}, {}};
  }
  const std::string name =
      arguments.front() == "--version" ? "version" : arguments.front();
  const CommandRow* command = Find(Commands(), name);
  if (command == nullptr) {
    return Bad(absl::StrCat("there is no command '", name, "'",
                            base::SuggestName(name, NamesOf(Commands()))));
  }
  CommandLine line;
  line.command = command->name;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (absl::StartsWith(arguments[i], "-")) {
      const absl::Status status = ParseFlag(*command, arguments, &i, &line);
      if (!status.ok()) return status;
    } else if (command->has_spec && line.spec.empty()) {
      line.spec = arguments[i];
    } else {
      return Bad(absl::StrCat("what is '", arguments[i], "'?"));
    }
  }
  if (command->has_spec && line.spec.empty()) {
    return Bad(absl::StrCat(command->name, " needs a file with its task"));
  }
  for (const FlagRow& flag : command->flags) {
    if (flag.required && line.flags.count(flag.name) == 0) {
      return Bad(absl::StrCat(command->name, " needs ", flag.name));
    }
  }
  return line;
}

std::string Usage() {
  std::string text = "usage:\n";
  for (const CommandRow& command : Commands()) {
    absl::StrAppend(&text, "  ordo-trainer ", command.name,
                    *command.synopsis == '\0' ? "" : " ", command.synopsis,
                    "\n      ", command.help, "\n");
  }
  absl::StrAppend(&text, kTaskHelp);
  return text;
}

}  // namespace ordo::worker::trainer
