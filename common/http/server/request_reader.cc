#include "common/http/server/request_reader.h"

#include <optional>
#include <utility>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "common/base/text.h"

namespace plimsoll {
namespace {

namespace http = boost::beast::http;

std::string_view Text(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

int StatusOf(const boost::beast::error_code& error) {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit) return 431;
  return 400;
}

}  // namespace

struct RequestReader::Impl {
  std::size_t head_max;
  std::size_t body_max;
  std::optional<http::request_parser<http::string_body>> parser;
  State state = State::kMore;
  bool expect_seen = false;
  bool keep_alive = false;
  bool http_1_1 = true;
  int bad_status = 400;
  std::string bad_reason;

  // Beast's parser believes that a last chunk follows data and so is at least five bytes, and
  // aborts on an empty body's that comes byte by byte ("0\r\n", then "0\r\n\r"). No chunked body
  // ends in fewer bytes than "0\r\n\r\n": fewer wait for more.
  bool MustWait(std::size_t bytes) const {
    constexpr std::size_t kLastChunkBytes = 5;
    return parser->is_header_done() && parser->chunked() && bytes < kLastChunkBytes;
  }

  void Restart() {
    parser.emplace();
    parser->eager(true);
    parser->header_limit(static_cast<std::uint32_t>(head_max));
    parser->body_limit(body_max);
    state = State::kMore;
    expect_seen = false;
  }
};

RequestReader::RequestReader(std::size_t head_max, std::size_t body_max)
    : impl_(std::make_unique<Impl>()) {
  impl_->head_max = head_max;
  impl_->body_max = body_max;
  impl_->Restart();
}

RequestReader::~RequestReader() = default;

std::size_t RequestReader::Feed(std::string_view bytes) {
  Impl& me = *impl_;
  std::size_t used = 0;
  while (me.state == State::kMore && used < bytes.size() && !me.MustWait(bytes.size() - used)) {
    boost::beast::error_code error;
    const std::size_t n =
        me.parser->put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used), error);
    used += n;
    if (error == http::error::need_more) break;
    if (error) {
      me.state = State::kBad;
      me.bad_status = StatusOf(error);
      me.bad_reason = error.message();
    } else if (me.parser->is_done()) {
      me.state = State::kDone;
      me.keep_alive = me.parser->keep_alive();
      me.http_1_1 = me.parser->get().version() >= 11;
    } else if (n == 0) {
      break;
    }
  }
  return used;
}

RequestReader::State RequestReader::state() const {
  return impl_->state;
}

bool RequestReader::TakeExpectContinue() {
  if (impl_->expect_seen || !impl_->parser->is_header_done()) return false;
  impl_->expect_seen = true;
  const auto value = impl_->parser->get()[http::field::expect];
  return LowerAscii(Text(value)) == "100-continue" && impl_->state == State::kMore;
}

bool RequestReader::keep_alive() const {
  return impl_->keep_alive;
}

bool RequestReader::http_1_1() const {
  return impl_->http_1_1;
}

int RequestReader::bad_status() const {
  return impl_->bad_status;
}

const std::string& RequestReader::bad_reason() const {
  return impl_->bad_reason;
}

HttpServerRequest RequestReader::Take() {
  auto message = impl_->parser->release();
  HttpServerRequest request;
  request.method.assign(message.method_string().data(), message.method_string().size());
  request.target.assign(message.target().data(), message.target().size());
  for (const auto& field : message) {
    request.headers.emplace_back(LowerAscii(Text(field.name_string())),
                                 std::string(field.value().data(), field.value().size()));
  }
  request.body = std::move(message.body());
  impl_->Restart();
  return request;
}

}  // namespace plimsoll
