#include "common/http/curl_tls.h"

#include <algorithm>
#include <initializer_list>

#include <curl/curl.h>

namespace plimsoll {
namespace {

bool HasAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

}  // namespace

TlsTrouble TlsTroubleOf(int code, std::string_view host, std::string_view text, bool fresh) {
  if (!host.starts_with("https://")) return TlsTrouble::kNone;
  switch (static_cast<CURLcode>(code)) {
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return TlsTrouble::kOurFiles;
    case CURLE_PEER_FAILED_VERIFICATION:
      return HasAny(text, {"subject name", "subjectAltName"}) ? TlsTrouble::kOtherHost
                                                              : TlsTrouble::kNotTrusted;
    case CURLE_SSL_CLIENTCERT:
      return TlsTrouble::kWantsClient;
    case CURLE_SSL_CONNECT_ERROR:  // With TLS 1.2 in the handshake …
    case CURLE_RECV_ERROR:         // … with 1.3 in the first answer, since ours was over.
    case CURLE_SEND_ERROR:
      if (HasAny(text, {"wrong version number", "http request", "packet length too long"})) {
        return TlsTrouble::kNotTls;
      }
      if (HasAny(text, {"certificate required", "alert bad certificate", "alert unknown ca",
                        "alert certificate unknown", "alert certificate expired",
                        "alert unsupported certificate", "alert handshake failure"})) {
        return TlsTrouble::kWantsClient;
      }
      if (code == CURLE_SSL_CONNECT_ERROR) return TlsTrouble::kHandshake;
      // A peer that refuses us after the handshake may be gone before its alert is read.
      return fresh ? TlsTrouble::kWantsClient : TlsTrouble::kNone;
    default:
      return TlsTrouble::kNone;
  }
}

}  // namespace plimsoll
