#include "model/text/source/byte_source.h"

#include <cstdint>
#include <utility>
#include <zlib.h>
#include <zstd.h>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/status/status.h"

namespace ordo::model::text::source {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr absl::string_view kGzipEnd = ".gz";
constexpr absl::string_view kZstdEnd = ".zst";

// The file as it lies there.
class PlainSource : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<base::ReadableFile> file)
      : file_(std::move(file)) {}

  absl::StatusOr<std::string_view> Next() override {
    ORDO_ASSIGN_OR_RETURN(chunk_, file_->ReadAt(offset_, kChunkBytes));
    offset_ += chunk_.size();
    return std::string_view(chunk_);
  }

 private:
  const std::unique_ptr<base::ReadableFile> file_;
  uint64_t offset_ = 0;
  std::string chunk_;
};

// What gzip and zstd have in common: an input that is refilled, and what is
// said of one that is damaged.
class DecompressingSource : public ByteSource {
 public:
  DecompressingSource(std::unique_ptr<base::ReadableFile> file,
                      std::string path)
      : path_(std::move(path)), source_(std::move(file)) {
    out_.resize(kChunkBytes);
  }

  absl::StatusOr<std::string_view> Next() override {
    while (true) {
      // Both formats leave a byte of input until all output of it is taken, so
      // nothing is waiting when the file ends.
      if (in_.empty()) {
        ORDO_ASSIGN_OR_RETURN(in_, source_.Next());
        num_read_ += in_.size();
        if (in_.empty() && !AtBoundary()) {
          return absl::DataLossError(absl::StrCat(
              "read ", path_, ": the ", name(), " data breaks off at the end ",
              "of the file, after ", num_read_, " bytes: copy it again"));
        }
        if (in_.empty()) return std::string_view();
      }
      ORDO_ASSIGN_OR_RETURN(const size_t num_bytes, Decompress());
      if (num_bytes > 0) return std::string_view(out_).substr(0, num_bytes);
    }
  }

 protected:
  virtual const char* name() const = 0;
  // Whether the file may end here.
  virtual bool AtBoundary() const = 0;
  // Takes bytes from the front of in(), which has some, and puts what comes of
  // them into out(): how many those are.
  virtual absl::StatusOr<size_t> Decompress() = 0;

  absl::Status Damaged(const char* reason) const {
    if (!begun_) {
      return absl::InvalidArgumentError(
          absl::StrCat("read ", path_, ": its name says ", name(),
                       ", but it does not begin as such a file: rename it, or ",
                       "compress it"));
    }
    return absl::DataLossError(absl::StrCat(
        "read ", path_, ": the ", name(), " data is damaged near ", "byte ",
        num_read_ - in_.size(), " of the file (", reason, "): copy it again"));
  }

  std::string_view& in() { return in_; }
  std::string& out() { return out_; }
  void set_begun() { begun_ = true; }

 private:
  const std::string path_;
  PlainSource source_;
  std::string_view in_;
  std::string out_;
  uint64_t num_read_ = 0;
  // Whether the beginning of the data was right.
  bool begun_ = false;
};

// RFC 1952: members one after the other.
class GzipSource : public DecompressingSource {
 public:
  GzipSource(std::unique_ptr<base::ReadableFile> file, std::string path)
      : DecompressingSource(std::move(file), std::move(path)) {
    // 16: a gzip header, no other; 15: any window.
    ORDO_CHECK(inflateInit2(&stream_, 16 + 15) == Z_OK) << "out of memory";
  }
  ~GzipSource() override { inflateEnd(&stream_); }

 private:
  const char* name() const override { return "gzip"; }
  bool AtBoundary() const override { return num_members_ > 0 && !inside_; }

  absl::StatusOr<size_t> Decompress() override {
    if (!inside_) {
      ORDO_CHECK(inflateReset(&stream_) == Z_OK);
      inside_ = true;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in().data()));
    stream_.avail_in = static_cast<uInt>(in().size());
    stream_.next_out = reinterpret_cast<Bytef*>(out().data());
    stream_.avail_out = static_cast<uInt>(out().size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    // Z_BUF_ERROR: it needs more input than there is, or room.
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return Damaged(stream_.msg == nullptr ? "no reason given" : stream_.msg);
    }
    if (stream_.total_out > 0) set_begun();
    in().remove_prefix(in().size() - stream_.avail_in);
    if (result == Z_STREAM_END) {
      set_begun();
      inside_ = false;
      ++num_members_;
    }
    return out().size() - stream_.avail_out;
  }

  z_stream stream_ = {};
  bool inside_ = false;
  int64_t num_members_ = 0;
};

// RFC 8878: frames one after the other.
class ZstdSource : public DecompressingSource {
 public:
  ZstdSource(std::unique_ptr<base::ReadableFile> file, std::string path)
      : DecompressingSource(std::move(file), std::move(path)),
        stream_(ZSTD_createDStream()) {
    ORDO_CHECK(stream_ != nullptr) << "out of memory";
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

 private:
  const char* name() const override { return "zstd"; }
  bool AtBoundary() const override { return num_frames_ > 0 && wanted_ == 0; }

  absl::StatusOr<size_t> Decompress() override {
    ZSTD_inBuffer input = {in().data(), in().size(), 0};
    ZSTD_outBuffer output = {out().data(), out().size(), 0};
    wanted_ = ZSTD_decompressStream(stream_, &output, &input);
    if (ZSTD_isError(wanted_)) return Damaged(ZSTD_getErrorName(wanted_));
    if (output.pos > 0 || wanted_ == 0) set_begun();
    in().remove_prefix(input.pos);
    if (wanted_ == 0) ++num_frames_;
    return output.pos;
  }

  ZSTD_DStream* const stream_;
  // 0: a frame has ended.
  size_t wanted_ = 0;
  int64_t num_frames_ = 0;
};

}  // namespace

Compression CompressionOf(std::string_view path) {
  // Two kinds of string_view: Debian's Abseil has one of its own.
  const std::string name(path);
  if (absl::EndsWith(name, kGzipEnd)) return Compression::kGzip;
  if (absl::EndsWith(name, kZstdEnd)) return Compression::kZstd;
  return Compression::kNone;
}

std::string_view WithoutCompression(std::string_view path) {
  switch (CompressionOf(path)) {
    case Compression::kGzip:
      path.remove_suffix(kGzipEnd.size());
      break;
    case Compression::kZstd:
      path.remove_suffix(kZstdEnd.size());
      break;
    case Compression::kNone:
      break;
  }
  return path;
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenBytes(base::Filesystem& files,
                                                      const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(std::unique_ptr<base::ReadableFile> file,
                        files.OpenForRead(path));
  std::unique_ptr<ByteSource> source;
  switch (CompressionOf(path)) {
    case Compression::kGzip:
      source = std::make_unique<GzipSource>(std::move(file), path);
      break;
    case Compression::kZstd:
      source = std::make_unique<ZstdSource>(std::move(file), path);
      break;
    case Compression::kNone:
      source = std::make_unique<PlainSource>(std::move(file));
      break;
  }
  return source;
}

}  // namespace ordo::model::text::source
