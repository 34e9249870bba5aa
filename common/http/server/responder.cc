#include <utility>

#include "common/http/server/exchange.h"
#include "common/http/server/http_server.h"

namespace plimsoll {

HttpResponder::HttpResponder(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

HttpResponder& HttpResponder::operator=(HttpResponder&& other) noexcept {
  if (this != &other) {
    Abort();
    exchange_ = std::move(other.exchange_);
  }
  return *this;
}

HttpResponder::~HttpResponder() {
  Abort();
}

void HttpResponder::Send(int status, const HttpHeaders& headers, std::string_view body) {
  if (const auto exchange = std::exchange(exchange_, nullptr))
    exchange->Send(status, headers, body);
}

void HttpResponder::StartStream(int status, const HttpHeaders& headers) {
  if (exchange_) exchange_->StartStream(status, headers);
}

void HttpResponder::Write(std::string_view piece) {
  if (exchange_) exchange_->Write(piece);
}

void HttpResponder::End() {
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->End();
}

void HttpResponder::Abort() {
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->Abort();
}

void HttpResponder::Reset() {
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->Reset();
}

void HttpResponder::OnHangUp(std::function<void()> hung_up) {
  if (exchange_) exchange_->OnHangUp(std::move(hung_up));
}

bool HttpResponder::open() const {
  return exchange_ && exchange_->open();
}

std::size_t HttpResponder::unsent() const {
  return exchange_ ? exchange_->unsent() : 0;
}

std::string_view HttpServerRequest::Header(std::string_view name_lower) const {
  for (const auto& [name, value] : headers) {
    if (name == name_lower) return value;
  }
  return {};
}

}  // namespace plimsoll
