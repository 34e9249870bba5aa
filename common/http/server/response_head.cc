#include "common/http/server/response_head.h"

#include <fmt/format.h>

namespace plimsoll {
namespace {

void AppendClean(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out->push_back(c);
  }
}

}  // namespace

std::string_view HttpReason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Payload Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

std::string FormatHead(const ResponseHead& head, const HttpHeaders& headers) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", head.status, HttpReason(head.status));
  for (const auto& [name, value] : headers) {
    AppendClean(name, &out);
    out += ": ";
    AppendClean(value, &out);
    out += "\r\n";
  }
  if (head.framing == BodyFraming::kLength)
    out += fmt::format("Content-Length: {}\r\n", head.length);
  if (head.framing == BodyFraming::kChunked) out += "Transfer-Encoding: chunked\r\n";
  out += head.close ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n";
  return out;
}

}  // namespace plimsoll
