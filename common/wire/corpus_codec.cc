#include "common/wire/corpus_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "common/corpus/validate.h"
#include "plimsoll/v1/corpus.pb.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kFormatVersion = 1;
constexpr std::size_t kTextBytesMax = 4096;
constexpr std::size_t kDigestBytes = 32;

using Column = google::protobuf::RepeatedField<std::uint32_t>;

Status Wrong(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

// Inverse of ToHex(); empty for anything that is not lower-case hex of a digest.
std::string FromHex(std::string_view hex) {
  if (hex.size() != 2 * kDigestBytes) return {};
  const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return ToHex(bytes) == hex ? bytes : std::string();
}

// Ends a column at its last entry that is not zero; the reader knows the number of calls.
void CutZeros(Column* column) {
  int size = column->size();
  while (size > 0 && column->Get(size - 1) == 0) --size;
  column->Truncate(size);
}

void EncodeStream(const Stream& stream, v1::Stream* out) {
  if (stream.parent_call >= 0) out->set_parent_call(static_cast<std::uint32_t>(stream.parent_call));
  out->set_start_offset_ms(stream.start_offset_ms);
  if (stream.join_call >= 0) out->set_join_call(static_cast<std::uint32_t>(stream.join_call));
  out->set_prefix_blocks(stream.prefix_blocks);
  out->set_prefix_class(stream.prefix_class);
}

void EncodeSession(const Session& session, v1::Session* out) {
  out->set_id(session.id);
  out->set_tier(static_cast<v1::Tier>(session.tier));
  for (const Stream& stream : session.streams) EncodeStream(stream, out->add_streams());
  std::uint32_t start = 0;
  for (std::size_t i = 0; i < session.calls.size(); ++i) {
    const Call& call = session.calls[i];
    const bool has_ref = call.ref >= 0;
    const std::uint32_t keepable =
        has_ref ? session.calls[static_cast<std::size_t>(call.ref)].blocks() : 0;
    out->add_stream(call.stream);
    out->add_ref_delta(
        has_ref ? static_cast<std::uint32_t>(i) - static_cast<std::uint32_t>(call.ref) : 0);
    out->add_dropped_blocks(keepable - call.kept_blocks);
    out->add_fresh_blocks(call.fresh_blocks());
    out->add_tail_tokens(call.tokens_in % limits::kBlockTokens);
    out->add_tokens_out(call.tokens_out);
    out->add_start_delta_ms(call.start_ms - start);
    start = call.start_ms;
    out->add_delay_ms(call.delay_ms);
    out->add_service_ms(call.service_ms);
    out->add_flags(call.flags);
    out->add_model(call.model);
  }
  CutZeros(out->mutable_stream());
  CutZeros(out->mutable_dropped_blocks());
  CutZeros(out->mutable_delay_ms());
  CutZeros(out->mutable_model());
  out->set_file(session.file);
  out->set_sha256_json(FromHex(session.sha256_json));
  out->set_json_bytes(session.json_bytes);
}

Status CheckColumn(const char* name, const Column& column, int calls, bool may_be_cut) {
  if (column.size() == calls || (may_be_cut && column.size() < calls)) return absl::OkStatus();
  return Wrong(fmt::format("column {} has {} entries for {} calls", name, column.size(), calls));
}

Status CheckColumns(const v1::Session& in) {
  const int calls = in.ref_delta_size();
  if (static_cast<std::uint32_t>(calls) > limits::kCallsPerSessionMax) {
    return Wrong(
        fmt::format("{} calls; at most {} are allowed", calls, limits::kCallsPerSessionMax));
  }
  RETURN_IF_ERROR(CheckColumn("stream", in.stream(), calls, true));
  RETURN_IF_ERROR(CheckColumn("dropped_blocks", in.dropped_blocks(), calls, true));
  RETURN_IF_ERROR(CheckColumn("fresh_blocks", in.fresh_blocks(), calls, false));
  RETURN_IF_ERROR(CheckColumn("tail_tokens", in.tail_tokens(), calls, false));
  RETURN_IF_ERROR(CheckColumn("tokens_out", in.tokens_out(), calls, false));
  RETURN_IF_ERROR(CheckColumn("start_delta_ms", in.start_delta_ms(), calls, false));
  RETURN_IF_ERROR(CheckColumn("delay_ms", in.delay_ms(), calls, true));
  RETURN_IF_ERROR(CheckColumn("service_ms", in.service_ms(), calls, false));
  RETURN_IF_ERROR(CheckColumn("flags", in.flags(), calls, false));
  return CheckColumn("model", in.model(), calls, true);
}

StatusOr<std::int32_t> DecodeIndex(const char* name, bool present, std::uint32_t index) {
  if (!present) return -1;
  if (index >= limits::kCallsPerSessionMax) return Wrong(fmt::format("{} is call {}", name, index));
  return static_cast<std::int32_t>(index);
}

StatusOr<Stream> DecodeStream(const v1::Stream& in) {
  Stream stream;
  ASSIGN_OR_RETURN(stream.parent_call,
                   DecodeIndex("parent_call", in.has_parent_call(), in.parent_call()));
  ASSIGN_OR_RETURN(stream.join_call, DecodeIndex("join_call", in.has_join_call(), in.join_call()));
  stream.start_offset_ms = in.start_offset_ms();
  stream.prefix_blocks = in.prefix_blocks();
  stream.prefix_class = in.prefix_class();
  return stream;
}

// Call `i` of a session whose columns have the right lengths; all calls before it are in `calls`.
StatusOr<Call> DecodeCall(const v1::Session& in, int i, const std::vector<Call>& calls) {
  const auto filled = [i](const Column& column) { return i < column.size() ? column.Get(i) : 0u; };
  const auto wrong = [i](const char* column, std::uint64_t value) {
    return Wrong(fmt::format("call {}: {} is {}", i, column, value));
  };
  Call call;
  call.stream = filled(in.stream());
  const std::uint32_t delta = in.ref_delta(i);
  if (delta > static_cast<std::uint32_t>(i)) return wrong("ref_delta", delta);
  std::uint32_t keepable = 0;
  if (delta > 0) {
    call.ref = i - static_cast<std::int32_t>(delta);
    keepable = calls[static_cast<std::size_t>(call.ref)].blocks();
  }
  const std::uint32_t dropped = filled(in.dropped_blocks());
  if (dropped > keepable) return wrong("dropped_blocks", dropped);
  call.kept_blocks = keepable - dropped;
  const std::uint32_t tail = in.tail_tokens(i);
  if (tail >= limits::kBlockTokens) return wrong("tail_tokens", tail);
  const std::uint64_t tokens =
      (std::uint64_t{call.kept_blocks} + in.fresh_blocks(i)) * limits::kBlockTokens + tail;
  if (tokens > limits::kPromptTokensMax) return wrong("the prompt's length", tokens);
  call.tokens_in = static_cast<std::uint32_t>(tokens);
  call.tokens_out = in.tokens_out(i);
  const std::uint64_t start =
      std::uint64_t{calls.empty() ? 0 : calls.back().start_ms} + in.start_delta_ms(i);
  if (start > std::numeric_limits<std::uint32_t>::max()) return wrong("the start in ms", start);
  call.start_ms = static_cast<std::uint32_t>(start);
  call.delay_ms = filled(in.delay_ms());
  call.service_ms = in.service_ms(i);
  if (in.flags(i) > 0xff) return wrong("flags", in.flags(i));
  call.flags = static_cast<std::uint8_t>(in.flags(i));
  const std::uint32_t model = filled(in.model());
  if (model > 0xffff) return wrong("model", model);
  call.model = static_cast<std::uint16_t>(model);
  return call;
}

StatusOr<Session> DecodeSession(const v1::Session& in) {
  Session session;
  if (in.id().size() > kTextBytesMax || in.file().size() > kTextBytesMax) {
    return Wrong("an id or a file name of absurd length");
  }
  session.id = in.id();
  if (in.tier() < 0 || in.tier() > static_cast<int>(Tier::kHeavy)) {
    return Wrong(fmt::format("unknown tier {}", static_cast<int>(in.tier())));
  }
  session.tier = static_cast<Tier>(in.tier());
  RETURN_IF_ERROR(CheckColumns(in));
  if (in.streams_size() > in.ref_delta_size()) return Wrong("more streams than calls");
  for (const v1::Stream& stream : in.streams()) {
    ASSIGN_OR_RETURN(const Stream decoded, DecodeStream(stream));
    session.streams.push_back(decoded);
  }
  session.calls.reserve(static_cast<std::size_t>(in.ref_delta_size()));
  for (int i = 0; i < in.ref_delta_size(); ++i) {
    ASSIGN_OR_RETURN(const Call call, DecodeCall(in, i, session.calls));
    session.calls.push_back(call);
  }
  session.file = in.file();
  if (!in.sha256_json().empty() && in.sha256_json().size() != kDigestBytes) {
    return Wrong(fmt::format("a digest of {} bytes", in.sha256_json().size()));
  }
  session.sha256_json = ToHex(in.sha256_json());
  session.json_bytes = in.json_bytes();
  return session;
}

}  // namespace

std::string EncodeCorpus(const Corpus& corpus) {
  v1::Corpus out;
  out.set_format_version(kFormatVersion);
  out.set_block_tokens(limits::kBlockTokens);
  out.set_source(corpus.source);
  out.set_license(corpus.license);
  for (const std::string& model : corpus.models) out.add_models(model);
  for (const Session& session : corpus.sessions) EncodeSession(session, out.add_sessions());
  return out.SerializeAsString();
}

StatusOr<Corpus> DecodeCorpus(std::string_view bytes) {
  if (bytes.size() > limits::kCorpusBytesMax) {
    return Wrong(fmt::format("a corpus of {} bytes; at most {} are allowed", bytes.size(),
                             limits::kCorpusBytesMax));
  }
  v1::Corpus in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      in.format_version() == 0) {
    return Wrong(
        "not a corpus file, or one that was cut short; `plimsoll corpus import` makes one");
  }
  if (in.format_version() != kFormatVersion) {
    return absl::FailedPreconditionError(
        fmt::format("a corpus of another version: format {}, this build reads format {}; import it "
                    "again with this build",
                    in.format_version(), kFormatVersion));
  }
  if (in.block_tokens() != limits::kBlockTokens) {
    return Wrong(fmt::format("blocks of {} tokens; only {} is known", in.block_tokens(),
                             limits::kBlockTokens));
  }
  Corpus corpus;
  corpus.source = in.source();
  corpus.license = in.license();
  for (const std::string& model : in.models()) corpus.models.push_back(model);
  for (int i = 0; i < in.sessions_size(); ++i) {
    StatusOr<Session> session = DecodeSession(in.sessions(i));
    if (!session.ok()) {
      return Annotate(session.status(), fmt::format("session {} ({:.64})", i, in.sessions(i).id()));
    }
    corpus.sessions.push_back(*std::move(session));
  }
  RETURN_IF_ERROR(ValidateCorpus(corpus));
  return corpus;
}

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) return {};
  return ToHex({reinterpret_cast<const char*>(digest), size});
}

}  // namespace plimsoll
