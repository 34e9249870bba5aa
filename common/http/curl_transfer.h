// One request on an easy handle of libcurl: options in, callbacks out, and the verdict on how it
// ended. Internal to common/http; curl's types stay in the .cc file (a CURL is a void).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/http/transport.h"

struct curl_slist;

namespace plimsoll {

class CurlMulti;

class CurlTransfer {
 public:
  // `observer` and `clock` outlive it, or Silence() comes first.
  CurlTransfer(HttpRequest request, TransferObserver& observer, const Clock& clock);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // Sets `easy`, fresh or reset, up for the request. False: out of memory.
  bool Configure(void* easy);
  // The observer hears nothing more; curl is told to give up at its next callback.
  void Silence() { observer_ = nullptr; }
  bool silenced() const { return observer_ == nullptr; }
  // What to report for curl's verdict `code` (a CURLcode); `easy` still holds the transfer's facts.
  TransferEnd EndOf(int code) const;
  // The last call to the observer; *this may be destroyed in it.
  void Report(const TransferEnd& end);

  void* easy() const { return easy_; }
  const std::string& host() const { return host_; }

  CurlMulti* multi = nullptr;  // Where the handle is; null: waiting, or ended.

 private:
  static std::size_t OnRead(char* to, std::size_t size, std::size_t count, void* self);
  static std::size_t OnWrite(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t OnHeaderLine(char* bytes, std::size_t size, std::size_t count, void* self);
  static int OnConnected(void* self, char*, char*, int, int);
  static int OpenSocket(void* self, int purpose, void* address);

  MonoTime ReadAt();  // When what curl delivers now was read from the socket.
  std::size_t TakeHeaderLine(std::string_view line);
  bool SetHeaders();
  void SetTls();
  void SetBody();

  HttpRequest request_;
  TransferObserver* observer_;
  const Clock& clock_;
  void* easy_ = nullptr;
  curl_slist* header_list_ = nullptr;
  std::string host_;  // scheme://host:port, to find idle connections by.

  struct Header {
    std::size_t name_end;  // Offsets into header_text_.
    std::size_t value_end;
  };
  std::string header_text_;  // Names and values, one after the other.
  std::vector<Header> headers_;
  std::array<char, 256> error_text_{};  // Curl's, of CURL_ERROR_SIZE.
  std::uint64_t body_read_ = 0;
  std::uint64_t read_turn_ = 0;  // The multi's turn that read_at_ belongs to; 0: none yet.
  MonoTime read_at_{};
  std::uint16_t status_ = 0;
  int socket_errno_ = 0;  // Of a socket that could not be made.
  bool sent_ = false;
  bool upload_done_ = false;
  bool headers_done_ = false;
  bool too_long_ = false;
};

}  // namespace plimsoll
