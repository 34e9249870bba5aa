// Notifier: messages to webhooks, beside everything else. One request at a time for each webhook, a
// bounded queue before it, tries again with a doubling wait; nobody ever waits for it but Finish(),
// which has a deadline. It runs on the coordinator's control loop: the load is sent by agents,
// which know nothing of it. URLs are secrets: no text that comes out of here holds one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/scheduler.h"
#include "common/base/status.h"
#include "common/http/transport.h"
#include "coordinator/notify/notify_message.h"
#include "coordinator/scenario/notify_spec.h"

namespace plimsoll {

// A webhook whose URL was read.
struct Webhook {
  NotifySpec spec;
  std::string url;
};

// Reads the URLs that `specs` name, from the environment or from files. NotFound: one is not there,
// is empty or is no URL; the message names where it should stand, never what stands there.
StatusOr<std::vector<Webhook>> ReadWebhooks(const std::vector<NotifySpec>& specs);

struct NotifierLimits {
  std::size_t queued_max = 64;  // Of one webhook; further messages are dropped, and said.
  int attempts_max = 6;
  Duration first_wait = 1s;  // Doubles with each failure of a message …
  Duration wait_max = 30s;   // … up to this; also the most of a Retry-After.
  Duration attempt_limit = 10s;
};

class Notifier {
 public:
  // `outcome` gets a line for each message that was delivered, given up or dropped: "notify:
  // verdict to $SLACK_WEBHOOK: delivered at attempt 3". `http` and `scheduler` outlive it.
  Notifier(HttpTransport& http, Scheduler& scheduler, std::vector<Webhook> webhooks,
           std::function<void(const std::string&)> outcome, NotifierLimits limits = {});
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // To every webhook that asked for this event. Never waits, never fails.
  void Send(const NotifyMessage& message);
  // True: nothing is under way.
  bool idle() const;
  // `done`, later, once nothing is under way or `limit` is over; what is left then is given up, and
  // said.
  void Finish(Duration limit, std::function<void()> done);

 private:
  class Line;
  void LookFinished();

  Scheduler& scheduler_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::function<void()> finished_;
  Timer limit_;
};

}  // namespace plimsoll
