// An HTTPS server for tests, on a thread of its own, and certificates for it that the openssl
// program makes when the test runs: nothing that expires lies in the tree.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace plimsoll {

// A folder with certificates, removed with the object:
//   ca.pem      an authority, which signed …
//   server.pem  … localhost's certificate (server.key)
//   client.pem  … and a client's (client.key); both in client-both.pem
//   other.pem   another authority, which signed nothing
//   locked.key  client.key behind a pass phrase
class TestCertificates {
 public:
  TestCertificates();
  ~TestCertificates();
  TestCertificates(const TestCertificates&) = delete;
  TestCertificates& operator=(const TestCertificates&) = delete;

  // False: no openssl program here; what it said is in error().
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  void Run(const std::string& words);

  std::string folder_;
  std::string error_;
};

enum class ClientCheck : std::uint8_t { kNone, kTls12, kTls13 };

class TlsServer {
 public:
  // Asks for a certificate of ca.pem's clients, if wanted, and speaks that version only then.
  TlsServer(const TestCertificates& certificates, ClientCheck check = ClientCheck::kNone);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  // `host` is what the certificate is compared with.
  std::string url(const std::string& host = "localhost") const;
  int answered() const { return answered_; }

 private:
  void Serve();

  void* context_ = nullptr;  // SSL_CTX.
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> answered_{0};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace plimsoll
