// Batches of call records <-> plimsoll.v1.RecordBatch, kept by column (grammar:
// proto/plimsoll/v1/records.proto): tens of bytes a record, and well under a microsecond of work.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/record/batch.h"

namespace plimsoll::v1 {
class RecordBatch;
}

namespace plimsoll {

// Overwrites what `out` held. A record whose stamps lie before its release or after its end is
// written, and refused by the reader.
void ToProto(const RecordBatch& batch, v1::RecordBatch* out);
// InvalidArgument in words: "RecordBatch.lane: must be below 16384, is 20000 (record 3 of 10)".
StatusOr<RecordBatch> FromProto(const v1::RecordBatch& in);

// The same as bytes, as the store keeps them.
std::string EncodeBatch(const RecordBatch& batch);
StatusOr<RecordBatch> DecodeBatch(std::string_view bytes);

}  // namespace plimsoll
