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
      return {"the gateway ends the TLS connection instead of answering",
              "if it wants a certificate of ours, there is no key for one yet: name an address in "
              "target.url where the token is enough"};
    case TlsTrouble::kOurFiles:
      return {"a certificate file of ours cannot be used",
              "check that target.ca_file is a PEM file of certificates"};
  }
  return {"the gateway cannot be reached", "check target.url and that it is up"};
}

}  // namespace plimsoll
