#include "coordinator/run/unreachable_words.h"

namespace plimsoll {

UnreachableText UnreachableWords(TlsTrouble tls) {
  switch (tls) {
    case TlsTrouble::kNone:
      break;
    case TlsTrouble::kNotTrusted:
      return {"the gateway's certificate is not trusted here",
              "write the PEM file of the authority that signed it (of itself, if nobody did) as "
              "target.ca_file"};
    case TlsTrouble::kOtherHost:
      return {"the gateway's certificate is for another host",
              "write target.url with a name that the certificate has"};
    case TlsTrouble::kNotTls:
      return {"the gateway does not speak TLS at this port",
              "write http:// in target.url, or the port that has TLS"};
    case TlsTrouble::kHandshake:
      return {"no TLS connection comes to be with the gateway",
              "check that the port in target.url has TLS; if it has none, write http://"};
    case TlsTrouble::kWantsClient:
      return {"the gateway wants a certificate of ours, or another one",
              "write PEM files of one that it accepts as target.client_cert and "
              "target.client_key"};
    case TlsTrouble::kOurFiles:
      return {"a certificate file of ours cannot be used",
              "check that target.ca_file, target.client_cert and target.client_key are PEM files, "
              "that the key is the certificate's, and that it has no pass phrase"};
  }
  return {"the gateway cannot be reached", "check target.url and that it is up"};
}

}  // namespace plimsoll
