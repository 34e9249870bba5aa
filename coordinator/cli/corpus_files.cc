#include "coordinator/cli/corpus_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <zstd.h>

#include "coordinator/cli/output_file.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

bool EndsIn(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Status FromErrno(std::string_view what) {
  const char* to_do = errno == ENOENT || errno == ENOTDIR ? "; check the path"
                      : errno == EACCES                   ? "; let this user read it"
                      : errno == EISDIR                   ? "; name a file in it"
                                                          : "";
  const std::string message = fmt::format("{}: {}{}", what, std::strerror(errno), to_do);
  if (errno == ENOENT || errno == ENOTDIR) return absl::NotFoundError(message);
  return absl::InvalidArgumentError(message);
}

StatusOr<std::string> Decompress(std::string_view bytes, std::size_t bytes_max) {
  const auto free_stream = [](ZSTD_DStream* stream) { ZSTD_freeDStream(stream); };
  const std::unique_ptr<ZSTD_DStream, decltype(free_stream)> stream(ZSTD_createDStream(),
                                                                    free_stream);
  if (stream == nullptr) return absl::ResourceExhaustedError("out of memory");
  std::string out;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::size_t left = 1;  // 0 once a frame is complete.
  bool full = false;     // More may come out although all went in.
  while (in.pos < in.size || full) {
    ZSTD_outBuffer piece{chunk.data(), chunk.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &piece, &in);
    if (ZSTD_isError(left) != 0) {
      return absl::InvalidArgumentError(fmt::format(
          "its name ends in .zst, and it is no zstd file ({}); name it as what it is, or "
          "pack it with zstd",
          ZSTD_getErrorName(left)));
    }
    full = piece.pos == piece.size && left != 0;
    if (out.size() + piece.pos > bytes_max) {
      return absl::ResourceExhaustedError(
          fmt::format("more than {} bytes when decompressed; split it", bytes_max));
    }
    out.append(chunk.data(), piece.pos);
  }
  if (left != 0)
    return absl::InvalidArgumentError("the compressed file was cut short; copy it again");
  return out;
}

}  // namespace

StatusOr<std::vector<std::string>> ListTraces(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      return absl::NotFoundError(fmt::format("{}: no such file or folder; check the path", path));
    }
    if (!fs::is_directory(status)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().string();
      std::string_view plain = name;
      if (EndsIn(plain, ".zst")) plain.remove_suffix(4);
      if (EndsIn(plain, ".json") || EndsIn(plain, ".jsonl")) found.push_back(name);
    }
    if (error) return absl::InvalidArgumentError(fmt::format("{}: {}", path, error.message()));
    if (found.empty()) {
      return absl::NotFoundError(fmt::format(
          "{}: no *.json, *.jsonl, *.json.zst or *.jsonl.zst file in it; name the folder "
          "that holds the recordings",
          path));
    }
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

StatusOr<std::string> ReadWholeFile(const std::string& path, std::size_t bytes_max) {
  const File file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return FromErrno("cannot open it");
  std::string bytes;
  char chunk[1 << 16];
  std::size_t got = 0;
  while ((got = std::fread(chunk, 1, sizeof(chunk), file.get())) > 0) {
    if (bytes.size() + got > bytes_max) {
      return absl::ResourceExhaustedError(fmt::format(
          "more than {} bytes, which is the most; check that it is the right file", bytes_max));
    }
    bytes.append(chunk, got);
  }
  if (std::ferror(file.get()) != 0) return FromErrno("cannot read it");
  return bytes;
}

StatusOr<std::string> ReadTrace(const std::string& path, std::size_t bytes_max) {
  StatusOr<std::string> bytes = ReadWholeFile(path, bytes_max);
  if (!bytes.ok()) return bytes;
  constexpr std::string_view kGzipMagic = "\x1f\x8b";
  if (bytes->starts_with(kGzipMagic)) {
    return absl::InvalidArgumentError(
        "it is packed with gzip, and only zstd is read; unpack it with gunzip, or pack it with "
        "zstd");
  }
  constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
  if (!EndsIn(path, ".zst") && bytes->compare(0, kZstdMagic.size(), kZstdMagic) != 0) return bytes;
  return Decompress(*bytes, bytes_max);
}

std::string ShortPath(const std::string& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error);
  if (error) whole = path;
  whole = whole.lexically_normal();
  const std::string folder = whole.parent_path().filename().string();
  const std::string name = whole.filename().string();
  return folder.empty() ? name : folder + "/" + name;
}

Status WriteFileWhole(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  RETURN_IF_ERROR(file.Write(bytes));
  return file.Finish();
}

Status CheckWritable(const std::string& path) {
  return OutputFile::Create(path).status();
}

}  // namespace plimsoll
