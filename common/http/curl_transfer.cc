#include "common/http/curl_transfer.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include "common/http/curl_multi.h"
#include "common/http/curl_tls.h"

namespace plimsoll {
namespace {

// Beyond it the peer is not a gateway. Curl's own bound is 100 KiB a line.
constexpr std::size_t kHeaderBytesMax = std::size_t{256} << 10;
// The least that curl accepts: a transfer keeps its buffer as long as it lives, and a body is made
// in pieces of it, between which other sockets have their turn.
constexpr long kUploadBuffer = 16L << 10;
// A look-up in the middle of a step would count in a call's time; an address that moved is found in
// minutes.
constexpr long kResolvedForSeconds = 600;

bool IsOurs(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM ||
         error == EADDRNOTAVAIL;
}

// What curl's verdict means once it is known whether a status line came.
TransferResult ResultOf(CURLcode code, bool status_line) {
  switch (code) {
    case CURLE_OK:
      return TransferResult::kOk;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
    case CURLE_NOT_BUILT_IN:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_INTERFACE_FAILED:
    case CURLE_READ_ERROR:
    case CURLE_ABORTED_BY_CALLBACK:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return TransferResult::kClientError;
    case CURLE_UNSUPPORTED_PROTOCOL:  // "Received HTTP/0.9 when not allowed" among others.
    case CURLE_URL_MALFORMAT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_HTTP2:
    case CURLE_WRITE_ERROR:
      return TransferResult::kProtocol;
    default:  // Resolve, connect, TLS, timeouts, send and receive errors, nothing received.
      return status_line ? TransferResult::kBroken : TransferResult::kConnectError;
  }
}

std::string HostOf(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  return url.substr(0, url.find_first_of("/?#", scheme + 3));
}

}  // namespace

CurlTransfer::CurlTransfer(HttpRequest request, TransferObserver& observer, const Clock& clock)
    : request_(std::move(request)),
      observer_(&observer),
      clock_(clock),
      host_(HostOf(request_.url)) {}

CurlTransfer::~CurlTransfer() {
  curl_slist_free_all(header_list_);
}

bool CurlTransfer::Configure(void* easy) {
  easy_ = easy;
  if (!SetHeaders()) return false;
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, header_list_);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // Empty: not even the environment's.
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer);
  curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, kResolvedForSeconds);
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(request_.connect_timeout);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeout.count()));
  if (!request_.accept_encoding.empty()) {
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, request_.accept_encoding.c_str());
  }
  SetTls();
  SetBody();
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &CurlTransfer::OnWrite);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &CurlTransfer::OnHeaderLine);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &CurlTransfer::OnConnected);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  const curl_opensocket_callback open = [](void* self, curlsocktype purpose,
                                           curl_sockaddr* address) -> curl_socket_t {
    return OpenSocket(self, static_cast<int>(purpose), address);
  };
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  // Copies the string; the only option here that can run out of memory unnoticed.
  return curl_easy_setopt(easy, CURLOPT_URL, request_.url.c_str()) == CURLE_OK;
}

void CurlTransfer::SetTls() {
  error_text_[0] = '\0';
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_text_.data());
  if (!request_.ca_file.empty()) {
    curl_easy_setopt(easy_, CURLOPT_CAINFO, request_.ca_file.c_str());
  }
  if (request_.client_cert.empty()) return;
  const std::string& key = request_.client_key.empty() ? request_.client_cert : request_.client_key;
  curl_easy_setopt(easy_, CURLOPT_SSLCERT, request_.client_cert.c_str());
  curl_easy_setopt(easy_, CURLOPT_SSLKEY, key.c_str());
  // Without one, a key with a pass phrase would ask for it on the terminal, and wait.
  curl_easy_setopt(easy_, CURLOPT_KEYPASSWD, "");
}

bool CurlTransfer::SetHeaders() {
  const auto append = [this](const std::string& line) {
    curl_slist* longer = curl_slist_append(header_list_, line.c_str());
    if (longer != nullptr) header_list_ = longer;
    return longer != nullptr;
  };
  // Bodies over 1 MB otherwise wait a second for a 100 that never comes.
  bool fine = append("Expect:");
  bool content_type = false;
  for (const auto& [name, value] : request_.headers) {
    content_type = content_type || curl_strequal(name.c_str(), "content-type") != 0;
    // Curl sends an empty header only when it is written with a semicolon.
    fine = fine &&
           append(value.empty() ? fmt::format("{};", name) : fmt::format("{}: {}", name, value));
  }
  if (request_.body != nullptr && !content_type) fine = fine && append("Content-Type:");
  return fine;
}

void CurlTransfer::SetBody() {
  if (request_.body != nullptr) {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body->size()));
    curl_easy_setopt(easy_, CURLOPT_READFUNCTION, &CurlTransfer::OnRead);
    curl_easy_setopt(easy_, CURLOPT_READDATA, this);
    if (request_.method != "POST") {
      curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    }
    return;
  }
  if (request_.method == "HEAD") {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  } else if (request_.method == "POST") {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, "");
  } else if (request_.method != "GET") {
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
}

// A connection is there and the request's head is about to be written to it.
int CurlTransfer::OnConnected(void* self_ptr, char*, char*, int, int) {
  CurlTransfer* self = static_cast<CurlTransfer*>(self_ptr);
  if (self->silenced()) return CURL_PREREQFUNC_ABORT;
  if (self->sent_) return CURL_PREREQFUNC_OK;
  self->sent_ = true;
  const MonoTime now = self->clock_.MonoNow();
  self->observer_->OnSent(now);
  if (self->silenced()) return CURL_PREREQFUNC_ABORT;
  if (self->request_.body == nullptr || self->request_.body->size() == 0) {
    self->upload_done_ = true;
    self->observer_->OnUploadDone(now);
  }
  return self->silenced() ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t CurlTransfer::OnRead(char* to, std::size_t size, std::size_t count, void* self_ptr) {
  CurlTransfer* self = static_cast<CurlTransfer*>(self_ptr);
  if (self->silenced()) return CURL_READFUNC_ABORT;
  BodySource& body = *self->request_.body;
  const std::size_t read = body.Read(to, size * count);
  self->body_read_ += read;
  if (self->body_read_ >= body.size() && !self->upload_done_) {
    self->upload_done_ = true;
    self->observer_->OnUploadDone(self->clock_.MonoNow());
    if (self->silenced()) return CURL_READFUNC_ABORT;
  }
  return read;
}

std::size_t CurlTransfer::OnWrite(char* bytes, std::size_t size, std::size_t count,
                                  void* self_ptr) {
  CurlTransfer* self = static_cast<CurlTransfer*>(self_ptr);
  const MonoTime now = self->ReadAt();
  if (self->silenced()) return 0;
  self->observer_->OnBody({bytes, size * count}, now);
  return self->silenced() ? 0 : size * count;
}

std::size_t CurlTransfer::OnHeaderLine(char* bytes, std::size_t size, std::size_t count,
                                       void* self_ptr) {
  CurlTransfer* self = static_cast<CurlTransfer*>(self_ptr);
  if (self->silenced()) return 0;
  return self->TakeHeaderLine({bytes, size * count}) && !self->silenced() ? size * count : 0;
}

// Curl calls once for each chunk of a chunked body, and again and again while it decompresses. An
// instant of their own would turn chunks that came together into a speed of millions of tokens/s.
MonoTime CurlTransfer::ReadAt() {
  const std::uint64_t turn = multi == nullptr ? 0 : multi->turn();
  if (turn == 0 || turn != read_turn_) {
    read_turn_ = turn;
    read_at_ = clock_.MonoNow();
  }
  return read_at_;
}

std::size_t CurlTransfer::TakeHeaderLine(std::string_view line) {
  const MonoTime now = ReadAt();
  if (headers_done_) return 1;  // Trailers.
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // The first, or one after an interim answer.
    const std::size_t space = line.find(' ');
    status_ = 0;
    if (space != std::string_view::npos) {
      std::from_chars(line.data() + space + 1, line.data() + line.size(), status_);
    }
    header_text_.clear();
    headers_.clear();
    return 1;
  }
  if (line.empty()) {
    if (status_ < 200 && status_ != 101) return 1;  // An interim answer ended.
    headers_done_ = true;
    std::size_t at = 0;
    for (const Header& header : headers_) {
      const std::string_view text(header_text_);
      observer_->OnHeader(text.substr(at, header.name_end - at),
                          text.substr(header.name_end, header.value_end - header.name_end));
      if (silenced()) return 0;
      at = header.value_end;
    }
    observer_->OnHeaders(status_, now);
    return 1;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return 1;
  too_long_ = header_text_.size() + line.size() > kHeaderBytesMax;
  if (too_long_) return 0;
  for (const char c : line.substr(0, colon)) {
    header_text_.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  const std::size_t name_end = header_text_.size();
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  header_text_.append(value);
  headers_.push_back({name_end, header_text_.size()});
  return 1;
}

// Makes the socket itself, since curl does not say why it could not, and close-on-exec.
int CurlTransfer::OpenSocket(void* self_ptr, int purpose, void* address_ptr) {
  if (purpose != CURLSOCKTYPE_IPCXN) return CURL_SOCKET_BAD;
  const curl_sockaddr& address = *static_cast<const curl_sockaddr*>(address_ptr);
  const int fd =
      ::socket(address.family, address.socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.protocol);
  CurlTransfer* self = static_cast<CurlTransfer*>(self_ptr);
  if (fd < 0) self->socket_errno_ = errno;
  if (fd < 0) return CURL_SOCKET_BAD;
  if (!self->silenced()) self->observer_->OnConnecting(self->clock_.MonoNow());
  return fd;
}

TransferEnd CurlTransfer::EndOf(int code_number) const {
  const CURLcode code = static_cast<CURLcode>(code_number);
  TransferEnd end;
  end.at = clock_.MonoNow();
  long connects = 0;
  curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &connects);
  // A body that could not be rewound: a kept connection had died, whatever curl opened after it.
  end.new_connection = connects > 0 && code != CURLE_SEND_FAIL_REWIND;
  end.result = ResultOf(code, status_ != 0);
  if (code == CURLE_OK) return end;
  long os_error = 0;
  curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error);
  const int error = socket_errno_ != 0 ? socket_errno_ : static_cast<int>(os_error);
  if (end.result == TransferResult::kConnectError && IsOurs(error)) {
    end.result = TransferResult::kClientError;
  }
  if (status_ == 0) {
    end.tls = TlsTroubleOf(code_number, host_, error_text_.data(), end.new_connection);
  }
  // Curl's own words for a code say "SSL peer certificate or SSH remote key was not OK"; what was
  // wrong with it is in the other text.
  const bool more = end.tls != TlsTrouble::kNone && error_text_[0] != '\0';
  end.message = fmt::format("{}: {}", host_, more ? error_text_.data() : curl_easy_strerror(code));
  if (error != 0) end.message += fmt::format(" ({})", std::strerror(error));
  if (too_long_) end.message = fmt::format("{}: the answer's headers are too long", host_);
  return end;
}

void CurlTransfer::Report(const TransferEnd& end) {
  if (TransferObserver* observer = std::exchange(observer_, nullptr)) observer->OnEnd(end);
}

}  // namespace plimsoll
