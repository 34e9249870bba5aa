// RawClient: a blocking socket for tests of servers, which sees the bytes as they come. Every wait
// ends after ten seconds at most.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace plimsoll {

class RawClient {
 public:
  // Connects to 127.0.0.1; connected() tells.
  explicit RawClient(std::uint16_t port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  struct Answer {
    int status = 0;                              // 0: no whole head came.
    std::map<std::string, std::string> headers;  // Names in lower case.
    std::string body;                            // Without the chunks' framing.
    int chunks = 0;
    bool whole = false;  // The body ended as its framing says.
  };

  bool connected() const { return fd_ >= 0; }
  bool Send(std::string_view bytes);  // False: the peer is gone.
  // Sends "METHOD target" with these extra header lines ("a: b\r\n…") and body.
  bool Request(std::string_view method, std::string_view target, std::string_view headers = "",
               std::string_view body = "");
  Answer ReadAnswer();
  // Reads until `text` was seen; false: the connection ended (or ten seconds passed) before.
  bool ReadUntil(std::string_view text);
  // True: the peer closed, with nothing more sent.
  bool AtEnd();
  void Close();
  // What was received and not yet taken by ReadAnswer().
  const std::string& received() const { return in_; }

 private:
  bool More();
  bool ReadChunks(Answer* answer);

  int fd_ = -1;
  std::string in_;
};

}  // namespace plimsoll
