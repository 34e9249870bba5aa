#include "common/evals/json_bounds.h"

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using nlohmann::json;

constexpr std::size_t kKeyShown = 40;

// Counts as the parser reads; no tree is built. Each event answers whether to go on.
class Counter final : public nlohmann::json_sax<json> {
 public:
  explicit Counter(const JsonBounds& bounds) : bounds_(bounds) {}

  const Status& status() const { return status_; }

  bool null() override { return Value(); }
  bool boolean(bool /*value*/) override { return Value(); }
  bool number_integer(number_integer_t /*value*/) override { return Value(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return Value(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return Value(); }
  bool string(string_t& /*text*/) override { return Value(); }
  bool binary(binary_t& /*bytes*/) override { return Value(); }
  bool start_object(std::size_t /*size*/) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t /*size*/) override { return Open(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (!bounds_.unique_keys || keys_.back().insert(name).second) return true;
    status_ = absl::InvalidArgumentError(
        fmt::format("\"{}\" stands in an object twice: keep one", Printable(name, kKeyShown)));
    return false;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    status_ = absl::InvalidArgumentError(fmt::format("not JSON at byte {}", position));
    return false;
  }

 private:
  bool Value() {
    if (++values_ <= bounds_.values_max) return true;
    return Beyond(fmt::format("more than {} JSON values", bounds_.values_max));
  }
  bool Open() {
    if (keys_.size() >= bounds_.depth_max) {
      return Beyond(fmt::format("objects and lists nested deeper than {}", bounds_.depth_max));
    }
    keys_.emplace_back();
    return Value();
  }
  bool Close() {
    keys_.pop_back();
    return true;
  }
  bool Beyond(const std::string& what) {
    status_ = absl::ResourceExhaustedError(what);
    return false;
  }

  const JsonBounds& bounds_;
  Status status_;
  std::uint64_t values_ = 0;
  std::vector<std::set<std::string>> keys_;  // Of each open object; a list's stays empty.
};

}  // namespace

Status CheckJson(std::string_view text, const JsonBounds& bounds) {
  if (text.size() > bounds.bytes_max) {
    return absl::ResourceExhaustedError(
        fmt::format("{} bytes of JSON, at most {}", text.size(), bounds.bytes_max));
  }
  Counter counter(bounds);
  if (json::sax_parse(text, &counter) || !counter.status().ok()) return counter.status();
  return absl::InvalidArgumentError("not JSON");
}

}  // namespace plimsoll
