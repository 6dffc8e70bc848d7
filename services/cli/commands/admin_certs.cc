#include "services/cli/commands/admin_certs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/certificates/certificate.h"
#include "base/certificates/issue.h"
#include "base/files/file_util.h"
#include "base/files/secret_file.h"
#include "base/rpc/client.h"
#include "base/status/status.h"
#include "base/text/nearest.h"
#include "google/protobuf/struct.pb.h"
#include "services/cli/print.h"

namespace ordo::services::cli {
namespace {

// The folder of a deployment's authority.
constexpr char kCa[] = "ca.pem";
constexpr char kCaKey[] = "ca.key";
constexpr char kScheduler[] = "scheduler.pem";
constexpr char kWorkerPrefix[] = "worker-";
constexpr char kUserPrefix[] = "user-";
constexpr char kSuffix[] = ".pem";

constexpr size_t kMaxPemBytes = 1 << 20;
constexpr size_t kMaxWorkerIdBytes = 63;
constexpr int64_t kDefaultDays = 365;
constexpr int64_t kMaxDays = 3650;
constexpr int64_t kAuthorityDays = 3650;
// For the clocks of machines that are behind.
constexpr absl::Duration kBefore = absl::Hours(1);

// A file with a key and its certificate.
struct Entry {
  std::string file;
  base::CertificateNames names;
};

base::Validity ValidFor(const Context& context, int64_t days) {
  return {context.clock.Now() - kBefore, absl::Hours(24 * days) + kBefore};
}

absl::StatusOr<Entry> WorkerEntry(const std::string& id) {
  const bool fits =
      !id.empty() && id.size() <= kMaxWorkerIdBytes &&
      std::all_of(id.begin(), id.end(), [](const char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--worker ", id,
        ": must be the worker's id, 1 to 63 lower-case letters, digits and "
        "hyphens"));
  }
  return Entry{kWorkerPrefix + id + kSuffix, base::WorkerNames(id)};
}

absl::StatusOr<Entry> UserEntry(const std::string& name) {
  const bool fits = !name.empty() && name[0] != '.' &&
                    std::all_of(name.begin(), name.end(), [](const char c) {
                      return c > ' ' && c < 0x7f && c != '/';
                    });
  if (!fits) {
    return absl::InvalidArgumentError(
        absl::StrCat("--user '", name,
                     "': must be a login name, printable ASCII without "
                     "blanks and '/'"));
  }
  return Entry{kUserPrefix + name + kSuffix,
               {name, base::kUserUriPrefix + name}};
}

Entry SchedulerEntry(std::vector<std::string> hosts) {
  for (const char* local : base::kLocalHosts) {
    if (std::find(hosts.begin(), hosts.end(), local) == hosts.end()) {
      hosts.emplace_back(local);
    }
  }
  return {kScheduler, {"scheduler", base::kSchedulerUri, std::move(hosts)}};
}

// Of --worker and --user.
absl::StatusOr<std::vector<Entry>> Asked(const Arguments& arguments) {
  std::vector<Entry> entries;
  for (const std::string& id : arguments.All("worker")) {
    ORDO_ASSIGN_OR_RETURN(Entry entry, WorkerEntry(id));
    entries.push_back(std::move(entry));
  }
  for (const std::string& name : arguments.All("user")) {
    ORDO_ASSIGN_OR_RETURN(Entry entry, UserEntry(name));
    entries.push_back(std::move(entry));
  }
  return entries;
}

absl::Status CheckNew(Context& context, const std::string& folder,
                      const std::string& file) {
  const std::string path = base::JoinPath(folder, file);
  if (!base::Exists(context.files, path)) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      path,
      " is there; nothing was written. Name another folder, add others "
      "to this one with 'ordo admin certs add', or make its "
      "certificates anew with 'ordo admin certs renew'"));
}

absl::StatusOr<base::KeyedCertificate> ReadAuthority(
    Context& context, const std::string& folder) {
  const auto read = [&](const char* file) {
    return base::AddContext(
        base::ReadFile(context.files, base::JoinPath(folder, file),
                       kMaxPemBytes),
        "an authority that 'ordo admin certs init' made is needed");
  };
  base::KeyedCertificate authority;
  ORDO_ASSIGN_OR_RETURN(authority.certificate, read(kCa));
  ORDO_ASSIGN_OR_RETURN(authority.key, read(kCaKey));
  return authority;
}

// Issues all before it writes any.
absl::Status Write(const std::string& folder,
                   const base::KeyedCertificate& authority,
                   const std::vector<Entry>& entries,
                   const base::Validity& validity) {
  std::vector<std::string> texts;
  for (const Entry& entry : entries) {
    ORDO_ASSIGN_OR_RETURN(
        const auto issued,
        base::AddContext(base::Issue(authority, entry.names, validity),
                         entry.file));
    texts.push_back(issued.key + issued.certificate);
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    ORDO_RETURN_IF_ERROR(base::WriteSecretFile(
        base::JoinPath(folder, entries[i].file), texts[i]));
  }
  return absl::OkStatus();
}

void PrintFiles(Context& context, const std::string& folder,
                const std::vector<std::string>& files) {
  google::protobuf::Struct fields;
  auto& list = *(*fields.mutable_fields())["files"].mutable_list_value();
  for (const std::string& file : files) {
    list.add_values()->set_string_value(base::JoinPath(folder, file));
  }
  if (PrintStructured(context, fields)) return;
  context.out << "wrote";
  for (const std::string& file : files) {
    context.out << " " << base::JoinPath(folder, file);
  }
  context.out << "\n";
}

std::vector<std::string> FilesOf(const std::vector<Entry>& entries) {
  std::vector<std::string> files;
  for (const Entry& entry : entries) files.push_back(entry.file);
  return files;
}

void PrintAdvice(Context& context, const std::string& folder,
                 const Entry& user) {
  if (context.output != OutputForm::kTable) return;
  // Configurations take no others.
  std::error_code ignored;
  const std::string absolute =
      std::filesystem::absolute(folder, ignored).string();
  const auto path = [&absolute](const std::string& file) {
    return base::JoinPath(absolute, file);
  };
  context.out
      << "\n"
         "ca.key signs: keep it off the machines that need not sign. Each "
         "other file is\n"
         "a key and its certificate; take each to its machine with ca.pem.\n"
         "In the scheduler's configuration:\n"
      << "  tls { certificate: \"" << path(kScheduler) << "\" ca: \""
      << path(kCa) << "\" }\n"
      << "so that workers join by one-time tokens, beside them:\n"
      << "  join_ca { certificate: \"" << path(kCa) << "\" key: \""
      << path(kCaKey) << "\" }\n"
      << "who administers it:\n"
      << "  auth { certificate_admins: \"" << user.names.common_name << "\" }\n"
      << "In a worker's:\n"
      << "  tls { certificate: \""
      << path(absl::StrCat(kWorkerPrefix, "ID", kSuffix)) << "\" ca: \""
      << path(kCa) << "\" }\n"
      << "People:\n"
      << "  export ORDO_CA=" << path(kCa)
      << " ORDO_CERTIFICATE=" << path(user.file) << "\n";
}

absl::Status Init(Context& context, const Arguments& arguments,
                  const std::string& folder) {
  ORDO_ASSIGN_OR_RETURN(const int64_t days,
                        arguments.GetInt("days", kDefaultDays, 1, kMaxDays));
  ORDO_ASSIGN_OR_RETURN(std::vector<Entry> entries, Asked(arguments));
  entries.insert(entries.begin(), SchedulerEntry(arguments.All("host")));
  if (arguments.All("user").empty()) {
    ORDO_ASSIGN_OR_RETURN(Entry entry, UserEntry(base::LocalUser()));
    entries.push_back(std::move(entry));
  }
  std::vector<std::string> files = FilesOf(entries);
  files.insert(files.begin(), {kCa, kCaKey});
  for (const std::string& file : files) {
    ORDO_RETURN_IF_ERROR(CheckNew(context, folder, file));
  }
  ORDO_RETURN_IF_ERROR(context.files.MakeFolders(folder));
  ORDO_ASSIGN_OR_RETURN(
      const auto authority,
      base::NewAuthority("Ordo", ValidFor(context, kAuthorityDays)));
  ORDO_RETURN_IF_ERROR(
      Write(folder, authority, entries, ValidFor(context, days)));
  ORDO_RETURN_IF_ERROR(
      base::WriteSecretFile(base::JoinPath(folder, kCaKey), authority.key));
  ORDO_RETURN_IF_ERROR(base::AtomicWrite(
      context.files, base::JoinPath(folder, kCa), authority.certificate));
  PrintFiles(context, folder, files);
  PrintAdvice(context, folder, entries.back());
  return absl::OkStatus();
}

absl::Status Add(Context& context, const Arguments& arguments,
                 const std::string& folder) {
  ORDO_ASSIGN_OR_RETURN(const int64_t days,
                        arguments.GetInt("days", kDefaultDays, 1, kMaxDays));
  ORDO_ASSIGN_OR_RETURN(const std::vector<Entry> entries, Asked(arguments));
  if (entries.empty()) {
    return absl::InvalidArgumentError(
        "nothing to add; give --worker ID or --user NAME");
  }
  for (const Entry& entry : entries) {
    ORDO_RETURN_IF_ERROR(CheckNew(context, folder, entry.file));
  }
  ORDO_ASSIGN_OR_RETURN(const auto authority, ReadAuthority(context, folder));
  ORDO_RETURN_IF_ERROR(
      Write(folder, authority, entries, ValidFor(context, days)));
  PrintFiles(context, folder, FilesOf(entries));
  return absl::OkStatus();
}

// The names that the certificate of a file has.
absl::StatusOr<Entry> ReadEntry(Context& context, const std::string& folder,
                                const std::string& file) {
  const std::string path = base::JoinPath(folder, file);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(context.files, path, kMaxPemBytes));
  ORDO_ASSIGN_OR_RETURN(const base::Certificate says,
                        base::AddContext(base::ReadCertificate(text), path));
  Entry entry = {file, {says.common_name, "", says.hosts}};
  if (!says.uri_names.empty()) entry.names.uri_name = says.uri_names[0];
  return entry;
}

absl::Status Renew(Context& context, const Arguments& arguments,
                   const std::string& folder, std::vector<std::string> files) {
  ORDO_ASSIGN_OR_RETURN(const int64_t days,
                        arguments.GetInt("days", kDefaultDays, 1, kMaxDays));
  ORDO_ASSIGN_OR_RETURN(const auto authority, ReadAuthority(context, folder));
  if (files.empty()) {
    ORDO_ASSIGN_OR_RETURN(files, context.files.List(folder));
    files.erase(std::remove_if(files.begin(), files.end(),
                               [](const std::string& file) {
                                 return !absl::EndsWith(file, kSuffix) ||
                                        file == kCa;
                               }),
                files.end());
  }
  std::vector<Entry> entries;
  for (const std::string& file : files) {
    if (file == kCa || file == kCaKey || base::NameOf(file) != file) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", file, "': name a file of ", folder, ", but ", kCa));
    }
    ORDO_ASSIGN_OR_RETURN(Entry entry, ReadEntry(context, folder, file));
    entries.push_back(std::move(entry));
  }
  ORDO_RETURN_IF_ERROR(
      Write(folder, authority, entries, ValidFor(context, days)));
  PrintFiles(context, folder, files);
  return absl::OkStatus();
}

// Options that the verb makes nothing of are mistakes.
absl::Status CheckOptions(const std::string& verb, const Arguments& arguments) {
  std::string wrong;
  if (arguments.Has("host") && verb != "init") wrong = "host";
  if (arguments.Has("worker") && verb == "renew") wrong = "worker";
  if (arguments.Has("user") && verb == "renew") wrong = "user";
  if (wrong.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--", wrong, " has no meaning for 'ordo admin certs ", verb, "'"));
}

}  // namespace

absl::Status RunAdminCerts(Context& context, const Arguments& arguments,
                           const std::vector<std::string>& words) {
  const std::vector<std::string> verbs = {"init", "add", "renew"};
  const std::string verb = words.empty() ? "" : words[0];
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'ordo admin certs ", verb, "' is no command",
                     base::SuggestName(verb, verbs)));
  }
  if (words.size() < 2 || (words.size() > 2 && verb != "renew")) {
    return absl::InvalidArgumentError(
        absl::StrCat("usage: ordo admin certs ", verb, " DIR",
                     verb == "renew" ? " [FILE...]" : ""));
  }
  ORDO_RETURN_IF_ERROR(CheckOptions(verb, arguments));
  const std::string& folder = words[1];
  if (verb == "init") return Init(context, arguments, folder);
  if (verb == "add") return Add(context, arguments, folder);
  return Renew(context, arguments, folder, {words.begin() + 2, words.end()});
}

std::vector<Option> AdminCertsOptions() {
  return {
      {"host", 0, "HOST", "name or address of the scheduler", true},
      {"worker", 0, "ID", "a certificate for this worker", true},
      {"user", 0, "NAME", "for this person; default: you", true},
      {"days", 0, "NUMBER", "how long certificates hold; default 365"},
  };
}

}  // namespace ordo::services::cli
