// Each of gRPC's chains of reasons that a dialling agent meets ends in the one that helps.
#include "agent/uplink/dial_failure.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(DialFailure, IsTheLastReasonOfTheChain) {
  EXPECT_EQ(DialFailure("failed to connect to all addresses; last error: UNKNOWN: "
                        "ipv4:127.0.0.1:9: Failed to connect to remote host: Connection refused"),
            "Connection refused");
  EXPECT_EQ(DialFailure("DNS resolution failed for nohost.invalid:9: C-ares status is not "
                        "ARES_SUCCESS qtype=A name=nohost.invalid is_balancer=0: Domain name not "
                        "found"),
            "Domain name not found");
  EXPECT_EQ(DialFailure("no answer"), "no answer");
  EXPECT_EQ(DialFailure("ended: "), "ended: ");
  EXPECT_EQ(DialFailure(""), "");
}

}  // namespace
}  // namespace plimsoll
