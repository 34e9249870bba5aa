#include "common/http/server/http_server.h"

#include <array>
#include <unordered_map>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "common/http/server/exchange.h"
#include "common/http/server/request_reader.h"
#include "common/http/server/response_head.h"
#include "common/loop/asio_access.h"

namespace plimsoll {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

constexpr std::size_t kReadBytes = std::size_t{16} << 10;
// Read ahead while an answer is under way, to see a hang-up; more waits in the kernel.
constexpr std::size_t kReadAheadMax = std::size_t{64} << 10;
constexpr Duration kSweepPeriod = 250ms;
// A peer that is still uploading gets this long to read why it was refused.
constexpr Duration kLinger = 2s;
// Length announced by a piece that a reset cuts; more than is sent of it.
constexpr std::size_t kCutPiece = 4'096;

// A connection, and the exchange that is under way on it.
class Connection final : public HttpResponder::Exchange,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(EventLoop& loop, tcp::socket socket, const HttpServerOptions& options,
             HttpServer::Handler& handler, std::function<void(Connection*)> gone)
      : loop_(loop),
        socket_(std::move(socket)),
        options_(options),
        handler_(&handler),
        gone_(std::move(gone)),
        reader_(options.head_max, options.body_max),
        deadline_(loop.Now() + options.idle_timeout) {}

  void Begin() { Read(); }

  void Send(int status, const HttpHeaders& headers, std::string_view body) override {
    if (!answering_ || streaming_) return;
    close_ = close_ || !keep_alive_;
    out_ += FormatHead({.status = status, .length = body.size(), .close = close_}, headers);
    if (!head_only_) out_ += body;
    Finish();
  }

  void StartStream(int status, const HttpHeaders& headers) override {
    if (!answering_ || streaming_) return;
    streaming_ = true;
    chunked_ = http_1_1_;
    close_ = close_ || !keep_alive_ || !chunked_;
    out_ += FormatHead({.status = status,
                        .framing = chunked_ ? BodyFraming::kChunked : BodyFraming::kUntilClose,
                        .close = close_},
                       headers);
    Flush();
  }

  void Write(std::string_view piece) override {
    if (!answering_ || !streaming_ || piece.empty() || head_only_) return;
    if (out_.size() + in_flight_.size() + piece.size() > options_.unsent_max) {
      loop_.Post([me = shared_from_this()] { me->Close(); });  // Not from inside the caller's turn.
      return;
    }
    if (chunked_) out_ += fmt::format("{:x}\r\n", piece.size());
    out_ += piece;
    if (chunked_) out_ += "\r\n";
    Flush();
  }

  void End() override {
    if (!answering_ || !streaming_) return;
    if (chunked_ && !head_only_) out_ += "0\r\n\r\n";
    Finish();
  }

  void Abort() override {
    if (!answering_) return;
    close_ = true;
    Finish();
  }

  void Reset() override {
    if (!answering_) return;
    if (streaming_ && chunked_) out_ += fmt::format("{:x}\r\ndata: {{", kCutPiece);
    reset_ = true;
    Abort();
  }

  void OnHangUp(std::function<void()> hung_up) override {
    if (answering_) hung_up_ = std::move(hung_up);
  }

  bool open() const override { return answering_; }
  std::size_t unsent() const override { return closed_ ? 0 : out_.size() + in_flight_.size(); }

  // Closes when its time is up: idle, a request that never ends, or a peer that takes nothing.
  void Sweep(MonoTime now) {
    if (now >= deadline_ || now >= write_deadline_) Close();
  }

  // The server goes: no callback of anybody's any more.
  void Detach() {
    handler_ = nullptr;
    gone_ = nullptr;
    hung_up_ = nullptr;
    Close();
  }

  void Close() {
    if (closed_) return;
    closed_ = true;
    answering_ = false;
    Error ignored;
    // No time to linger: the kernel sends a reset instead of an end.
    if (reset_) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);
    const auto gone = std::exchange(gone_, nullptr);
    const auto hung_up = std::exchange(hung_up_, nullptr);
    const auto me = shared_from_this();
    if (gone) gone(this);
    if (hung_up) hung_up();
  }

 private:
  void Read() {
    if (reading_ || closed_) return;
    reading_ = true;
    // Into a buffer of its own: in_ is parsed while a read is pending.
    socket_.async_read_some(asio::buffer(read_),
                            [me = shared_from_this()](const Error& error, std::size_t n) {
                              me->reading_ = false;
                              me->in_.append(me->read_.data(), n);
                              me->OnRead(error);
                            });
  }

  void OnRead(const Error& error) {
    if (closed_) return;
    if (error) {
      // A peer that has its whole answer on the way may stop sending; anyone else hung up.
      if (answering_ || !Writing()) return Close();
      close_ = true;
      return;
    }
    if (lingering_) {
      in_.clear();
      return Read();
    }
    if (!answering_) Parse();
    if (!closed_ && in_.size() < kReadAheadMax) Read();
  }

  void Parse() {
    if (in_.empty()) return;
    if (!receiving_) {
      receiving_ = true;
      deadline_ = loop_.Now() + options_.request_timeout;
    }
    in_.erase(0, reader_.Feed(in_));
    if (reader_.TakeExpectContinue()) {
      out_ += "HTTP/1.1 100 Continue\r\n\r\n";
      Flush();
    }
    if (reader_.state() == RequestReader::State::kBad) return Refuse();
    if (reader_.state() == RequestReader::State::kDone) Answer();
  }

  void Answer() {
    receiving_ = false;
    answering_ = true;
    streaming_ = false;
    keep_alive_ = reader_.keep_alive();
    http_1_1_ = reader_.http_1_1();
    deadline_ = MonoTime::max();
    HttpServerRequest request = reader_.Take();
    head_only_ = request.method == "HEAD";
    if (handler_ != nullptr) (*handler_)(std::move(request), HttpResponder(shared_from_this()));
  }

  // A request that cannot be read: says so, and closes without losing the answer to a reset.
  void Refuse() {
    const std::string body = fmt::format(R"({{"error":{{"message":"malformed request: {}"}}}})"
                                         "\n",
                                         reader_.bad_reason());
    out_ += FormatHead({.status = reader_.bad_status(), .length = body.size(), .close = true},
                       {{"Content-Type", "application/json"}});
    out_ += body;
    in_.clear();
    close_ = true;
    lingering_ = true;
    Flush();
  }

  void Finish() {
    answering_ = false;
    hung_up_ = nullptr;
    deadline_ = loop_.Now() + options_.idle_timeout;
    Flush();
    if (!Writing()) Written();
    // A request that came meanwhile waits in in_; its turn is a new one, so stacks stay shallow.
    if (!close_) {
      loop_.Post([me = shared_from_this()] {
        if (me->closed_ || me->answering_) return;
        me->Parse();
        if (!me->closed_ && me->in_.size() < kReadAheadMax) me->Read();
      });
    }
  }

  bool Writing() const { return !in_flight_.empty(); }

  void Flush() {
    if (closed_ || Writing() || out_.empty()) return;
    in_flight_.swap(out_);
    WriteSome(0);
  }

  // Piece by piece, so that progress counts and not the whole length.
  void WriteSome(std::size_t from) {
    write_deadline_ = loop_.Now() + options_.write_timeout;
    socket_.async_write_some(asio::buffer(in_flight_.data() + from, in_flight_.size() - from),
                             [me = shared_from_this(), from](const Error& error, std::size_t n) {
                               if (me->closed_) return;
                               if (error) return me->Close();
                               if (from + n < me->in_flight_.size()) return me->WriteSome(from + n);
                               me->in_flight_.clear();
                               me->write_deadline_ = MonoTime::max();
                               me->Flush();
                               if (!me->Writing()) me->Written();
                             });
  }

  // Everything is out. Ends a connection that was to end with it.
  void Written() {
    if (!close_ || answering_ || closed_) return;
    if (!lingering_) return Close();
    Error ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    deadline_ = loop_.Now() + kLinger;
  }

  EventLoop& loop_;
  tcp::socket socket_;
  const HttpServerOptions& options_;
  HttpServer::Handler* handler_;
  std::function<void(Connection*)> gone_;
  std::function<void()> hung_up_;
  RequestReader reader_;
  std::array<char, kReadBytes> read_;
  std::string in_;         // Received, not yet parsed.
  std::string out_;        // To be sent after in_flight_.
  std::string in_flight_;  // Being sent.
  MonoTime deadline_;
  MonoTime write_deadline_ = MonoTime::max();
  bool reading_ = false;
  bool receiving_ = false;  // Part of a request is here.
  bool answering_ = false;  // A request was handed over and its answer is not finished.
  bool streaming_ = false;
  bool chunked_ = false;
  bool head_only_ = false;
  bool keep_alive_ = false;
  bool http_1_1_ = true;
  bool close_ = false;
  bool reset_ = false;  // The close is to be one.
  bool lingering_ = false;
  bool closed_ = false;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(EventLoop& loop, const HttpServerOptions& options, Handler handler)
      : loop_(loop),
        options_(options),
        handler_(std::move(handler)),
        acceptor_(EventLoopIo::Of(loop)) {}

  ~Impl() {
    *alive_ = false;
    Error ignored;
    acceptor_.close(ignored);
    for (const auto& connection : Snapshot()) connection->Detach();
  }

  Status Open() {
    Error error;
    const std::string host = options_.host == "localhost" ? "127.0.0.1" : options_.host;
    const auto address = asio::ip::make_address(host, error);
    if (error) {
      return absl::InvalidArgumentError(
          fmt::format("'{}' is not an address to listen on; give one such as 127.0.0.1", host));
    }
    const tcp::endpoint endpoint(address, options_.port);
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) {
      return absl::UnavailableError(fmt::format(
          "cannot listen on {}:{}: {}; give a free port, and an address of this machine", host,
          options_.port, error.message()));
    }
    Accept();
    Sweep();
    return absl::OkStatus();
  }

  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return connections_.size(); }
  std::size_t unsent() const {
    std::size_t bytes = 0;
    for (const auto& [key, connection] : connections_) bytes += connection->unsent();
    return bytes;
  }

 private:
  void Accept() {
    acceptor_.async_accept([this, alive = alive_](const Error& error, tcp::socket socket) {
      if (!*alive || error == asio::error::operation_aborted) return;
      if (error) {  // Out of descriptors: at once would be a busy loop.
        retry_ = loop_.After(100ms, [this] { Accept(); });
        return;
      }
      if (connections_.size() < options_.connections_max) Add(std::move(socket));
      Accept();
    });
  }

  void Add(tcp::socket socket) {
    Error ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto connection =
        std::make_shared<Connection>(loop_, std::move(socket), options_, handler_,
                                     [this](Connection* gone) { connections_.erase(gone); });
    connections_.emplace(connection.get(), connection);
    connection->Begin();
  }

  // Held by whoever walks them: closing one removes it.
  std::vector<std::shared_ptr<Connection>> Snapshot() const {
    std::vector<std::shared_ptr<Connection>> all;
    for (const auto& [key, connection] : connections_) all.push_back(connection);
    return all;
  }

  void Sweep() {
    const MonoTime now = loop_.Now();
    for (const auto& connection : Snapshot()) connection->Sweep(now);
    sweep_ = loop_.After(kSweepPeriod, [this] { Sweep(); });
  }

  EventLoop& loop_;
  const HttpServerOptions options_;
  Handler handler_;
  tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  // Each is owned here until it closes; answers that are under way own it too.
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // For a late accept's handler.
  Timer retry_;
  Timer sweep_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(EventLoop& loop,
                                                         const HttpServerOptions& options,
                                                         Handler handler) {
  auto impl = std::make_unique<Impl>(loop, options, std::move(handler));
  RETURN_IF_ERROR(impl->Open());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

std::uint16_t HttpServer::port() const {
  return impl_->port();
}

std::size_t HttpServer::connections() const {
  return impl_->connections();
}

std::size_t HttpServer::unsent() const {
  return impl_->unsent();
}

}  // namespace plimsoll
