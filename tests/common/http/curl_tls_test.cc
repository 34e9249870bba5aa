// Transfers over TLS: whose certificate is taken, which of ours is shown, and what is said where no
// connection came to be.
#include "common/http/curl_tls.h"

#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/http/curl_fixture.h"
#include "tests/common/http/tls_server.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

class CurlTlsTest : public CurlTransportTest {
 protected:
  static void SetUpTestSuite() { certificates_ = std::make_unique<TestCertificates>(); }
  static void TearDownTestSuite() { certificates_.reset(); }
  void SetUp() override { ASSERT_TRUE(certificates_->ok()) << certificates_->error(); }

  static std::string Pem(const std::string& name) { return certificates_->Path(name); }
  Recorder& Ask(const std::string& url, const std::string& ca, const std::string& cert = "",
                const std::string& key = "") {
    HttpRequest request = Get(url);
    if (!ca.empty()) request.ca_file = Pem(ca);
    if (!cert.empty()) request.client_cert = Pem(cert);
    if (!key.empty()) request.client_key = Pem(key);
    return Do(std::move(request));
  }
  static void ExpectAnswer(const Recorder& r) {
    EXPECT_EQ(r.end.result, TransferResult::kOk) << r.end.message;
    EXPECT_EQ(r.end.tls, TlsTrouble::kNone);
    EXPECT_EQ(r.status, 200);
    EXPECT_EQ(r.body, "hello");
  }
  static void ExpectTrouble(const Recorder& r, TlsTrouble tls, const char* words,
                            TransferResult result = TransferResult::kConnectError) {
    EXPECT_EQ(r.end.result, result) << r.end.message;
    EXPECT_EQ(static_cast<int>(r.end.tls), static_cast<int>(tls)) << r.end.message;
    EXPECT_THAT(r.end.message, HasSubstr(words));
    EXPECT_THAT(r.end.message, HasSubstr("https://"));
    EXPECT_EQ(r.status, 0);
  }

  inline static std::unique_ptr<TestCertificates> certificates_;
};

TEST_F(CurlTlsTest, TheNamedAuthorityIsTheOnlyOneThatCounts) {
  TlsServer server(*certificates_);
  ExpectAnswer(Ask(server.url(), "ca.pem"));
  ExpectTrouble(Ask(server.url(), "other.pem"), TlsTrouble::kNotTrusted, "certificate problem");
  ExpectTrouble(Ask(server.url(), ""), TlsTrouble::kNotTrusted, "certificate problem");
  EXPECT_EQ(server.answered(), 1);
}

TEST_F(CurlTlsTest, ACertificateIsForItsHostAlone) {
  TlsServer server(*certificates_);
  ExpectTrouble(Ask(server.url("127.0.0.1"), "ca.pem"), TlsTrouble::kOtherHost, "127.0.0.1");
  EXPECT_EQ(server.answered(), 0);
}

TEST_F(CurlTlsTest, APlainPortIsToldFromAGatewayThatIsDown) {
  RawServer plain([](RawConnection& c) {
    c.Write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    c.AwaitHangUp();
  });
  const std::string port = std::to_string(plain.port());
  ExpectTrouble(Ask("https://127.0.0.1:" + port + "/", "ca.pem"), TlsTrouble::kNotTls,
                "wrong version number");
  RawServer mute([](RawConnection&) {});
  ExpectTrouble(Ask("https://127.0.0.1:" + std::to_string(mute.port()) + "/", "ca.pem"),
                TlsTrouble::kHandshake, "");
  const Recorder& down = Ask("https://127.0.0.1:1/", "ca.pem");
  EXPECT_EQ(down.end.result, TransferResult::kConnectError);
  EXPECT_EQ(down.end.tls, TlsTrouble::kNone) << down.end.message;
}

// With TLS 1.3 the server's refusal comes after the client's handshake is over.
TEST_F(CurlTlsTest, AServerThatAsksWhoWeAreIsShownTheCertificate) {
  for (const ClientCheck check : {ClientCheck::kTls12, ClientCheck::kTls13}) {
    SCOPED_TRACE(static_cast<int>(check));
    TlsServer server(*certificates_, check);
    ExpectAnswer(Ask(server.url(), "ca.pem", "client.pem", "client.key"));
    ExpectAnswer(Ask(server.url(), "ca.pem", "client-both.pem"));
    ExpectTrouble(Ask(server.url(), "ca.pem"), TlsTrouble::kWantsClient, "alert");
    ExpectTrouble(Ask(server.url(), "ca.pem", "other.pem", "other.key"), TlsTrouble::kWantsClient,
                  "alert");
    EXPECT_EQ(server.answered(), 2);
  }
}

// As some servers do it: the alert is lost with the connection.
TEST(TlsTroubleOf, AnEndWithoutAnAnswerOnAFreshConnectionMayBeARefusal) {
  constexpr int kSendError = 55;
  constexpr int kRecvError = 56;
  for (const int code : {kSendError, kRecvError}) {
    EXPECT_EQ(TlsTroubleOf(code, "https://h", "Broken pipe", true), TlsTrouble::kWantsClient);
    EXPECT_EQ(TlsTroubleOf(code, "https://h", "Broken pipe", false), TlsTrouble::kNone);
    EXPECT_EQ(TlsTroubleOf(code, "http://h", "Broken pipe", true), TlsTrouble::kNone);
  }
}

// Ours to mend: no call that fails so is the deployment's failure. And nobody is asked for a pass
// phrase, on whatever terminal there is.
TEST_F(CurlTlsTest, FilesThatAreNoneAreOurOwnFault) {
  TlsServer server(*certificates_);
  const auto ours = [](const Recorder& r) {
    ExpectTrouble(r, TlsTrouble::kOurFiles, "", TransferResult::kClientError);
  };
  ours(Ask(server.url(), "log"));
  ours(Ask(server.url(), "ca.pem", "log", "client.key"));
  ours(Ask(server.url(), "ca.pem", "client.pem", "server.key"));
  ours(Ask(server.url(), "ca.pem", "client.pem", "locked.key"));
  EXPECT_EQ(server.answered(), 0);
}

}  // namespace
}  // namespace plimsoll
