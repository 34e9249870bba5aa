#include "common/rpc/grpc_fence.h"

#include <string>

#include "common/rpc/rpc_limits.h"

namespace plimsoll::rpc {

grpc::ChannelArguments ClientArguments() {
  grpc::ChannelArguments arguments;
  // Without it gRPC would share one connection among channels to the same address, and records
  // could delay a stop.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // An http_proxy in the environment is meant for other traffic.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kMessageBytesMax));
  arguments.SetMaxSendMessageSize(static_cast<int>(kMessageBytesMax));
  return arguments;
}

Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

grpc::Status ToGrpc(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(MessageOf(status).substr(0, kReasonBytesMax)));
}

}  // namespace plimsoll::rpc
