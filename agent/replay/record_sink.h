// RecordSink: where a lane puts the record of an attempt that ended, and an eval its own. Real:
// agent/uplink/uplink.
#pragma once

#include "common/record/call_record.h"
#include "common/record/eval_record.h"

namespace plimsoll {

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void Add(const CallRecord& record) = 0;
  virtual void AddEval(const EvalRecord& record) = 0;
};

}  // namespace plimsoll
