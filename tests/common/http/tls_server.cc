#include "tests/common/http/tls_server.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/common/http/loopback_listener.h"

namespace plimsoll {
namespace {

constexpr char kAnswer[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

// Requests without a body, on one connection, until the peer has enough.
void Answer(SSL* connection, std::atomic<int>* answered) {
  std::string pending;
  char buffer[4096];
  int got = 0;
  while ((got = SSL_read(connection, buffer, sizeof(buffer))) > 0) {
    pending.append(buffer, static_cast<std::size_t>(got));
    const std::size_t end = pending.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    pending.erase(0, end + 4);
    ++*answered;
    if (SSL_write(connection, kAnswer, sizeof(kAnswer) - 1) <= 0) return;
  }
}

}  // namespace

TestCertificates::TestCertificates() {
  std::string pattern = (std::filesystem::temp_directory_path() / "plimsoll-tls-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    error_ = "no temporary folder";
    return;
  }
  folder_ = pattern;
  const std::string made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2 ";
  const std::string ca = "-CA ca.pem -CAkey ca.key ";
  Run(made + "-nodes -keyout ca.key -out ca.pem -subj /CN=authority");
  Run(made + "-nodes -keyout other.key -out other.pem -subj /CN=another");
  // Not an authority, or the server's own certificate would do for one.
  Run(made + ca + "-nodes -keyout server.key -out server.pem -subj /CN=localhost " +
      "-addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE");
  Run(made + ca + "-nodes -keyout client.key -out client.pem -subj /CN=agent " +
      "-addext basicConstraints=critical,CA:FALSE");
  Run("ec -in client.key -aes256 -passout pass:secret -out locked.key");
  std::ofstream both(Path("client-both.pem"), std::ios::binary);
  for (const char* name : {"client.pem", "client.key"}) {
    both << std::ifstream(Path(name), std::ios::binary).rdbuf();
  }
}

TestCertificates::~TestCertificates() {
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
}

void TestCertificates::Run(const std::string& words) {
  if (!error_.empty()) return;
  const std::string command = "cd '" + folder_ + "' && openssl " + words + " >log 2>&1";
  if (std::system(command.c_str()) == 0) return;
  std::ostringstream log;
  log << "openssl " << words << ": " << std::ifstream(Path("log")).rdbuf();
  error_ = log.str();
}

TlsServer::TlsServer(const TestCertificates& certificates, ClientCheck check) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  context_ = context;
  const std::string ca = certificates.Path("ca.pem");
  const bool ready =
      SSL_CTX_use_certificate_chain_file(context, certificates.Path("server.pem").c_str()) == 1 &&
      SSL_CTX_use_PrivateKey_file(context, certificates.Path("server.key").c_str(),
                                  SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_load_verify_file(context, ca.c_str()) == 1;
  if (!ready) std::abort();
  if (check != ClientCheck::kNone) {
    const int version = check == ClientCheck::kTls12 ? TLS1_2_VERSION : TLS1_3_VERSION;
    SSL_CTX_set_min_proto_version(context, version);
    SSL_CTX_set_max_proto_version(context, version);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  const LoopbackListener listener = ListenOnLoopback(16);
  listener_ = listener.fd;
  port_ = listener.port;
  thread_ = std::thread([this] { Serve(); });
}

TlsServer::~TlsServer() {
  ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
  SSL_CTX_free(static_cast<SSL_CTX*>(context_));
}

std::string TlsServer::url(const std::string& host) const {
  return "https://" + host + ":" + std::to_string(port_) + "/v1/models";
}

// One connection at a time. A peer that keeps one open is not waited for: it has its answer.
void TlsServer::Serve() {
  sigset_t pipe;  // OpenSSL writes without MSG_NOSIGNAL.
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  while (!ending_) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const timeval patience{.tv_sec = 0, .tv_usec = 200'000};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    SSL* connection = SSL_new(static_cast<SSL_CTX*>(context_));
    SSL_set_fd(connection, fd);
    if (SSL_accept(connection) == 1) {
      Answer(connection, &answered_);
      SSL_shutdown(connection);
    }
    SSL_free(connection);
    // What the peer has sent meanwhile is read, or the end would be a reset and take the alert.
    ::shutdown(fd, SHUT_WR);
    char rest[4096];
    while (::recv(fd, rest, sizeof(rest), 0) > 0) {
    }
    ::close(fd);
  }
}

}  // namespace plimsoll
