#include "coordinator/hooks/run_intent.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include "coordinator/hooks/durable_file.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

constexpr char kIntentEnd[] = ".json";

std::string Path(const std::string& folder, const std::string& run_id, const char* end) {
  return (fs::path(folder) / "intents" / (run_id + end)).string();
}
std::string OwnerLock(const std::string& folder, const std::string& run_id) {
  return Path(folder, run_id, ".lock");
}
std::string HookLock(const std::string& folder, const std::string& run_id) {
  return Path(folder, run_id, ".hook.lock");
}

Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError(fmt::format("make the folder {}: {}", path, error.message()));
}

StatusOr<std::string> NewToken() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) {
    return absl::InternalError(fmt::format("draw a token: {}", std::strerror(errno)));
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

// The lock's file is not left behind by one who only looked whether there is an intent.
StatusOr<Intent> Read(const std::string& folder, const std::string& run_id) {
  const std::string path = Path(folder, run_id, kIntentEnd);
  auto text = ReadFileWhole(path, kIntentBytesMax);
  if (absl::IsResourceExhausted(text.status())) {
    return absl::DataLossError(std::string(MessageOf(text.status())));
  }
  RETURN_IF_ERROR(text.status());
  auto intent = DecodeIntent(*text);
  if (!intent.ok()) return Annotate(intent.status(), path);
  if (intent->spec.run_id != run_id) {
    return absl::DataLossError(fmt::format("{} is the intent of another run", path));
  }
  return intent;
}

}  // namespace

RunIntent::RunIntent(std::string folder, FileLock lock, Intent intent)
    : folder_(std::move(folder)), lock_(std::move(lock)), intent_(std::move(intent)) {}

StatusOr<std::unique_ptr<RunIntent>> RunIntent::Create(const std::string& store_folder,
                                                       const IntentSpec& spec, WallTime created) {
  RETURN_IF_ERROR(CheckIntent(spec));
  std::error_code error;
  // Whoever comes after us may stand elsewhere.
  const std::string folder = fs::absolute(store_folder, error).string();
  if (error) return absl::InternalError(fmt::format("{}: {}", store_folder, error.message()));
  RETURN_IF_ERROR(MakeFolder((fs::path(folder) / "intents").string()));
  RETURN_IF_ERROR(MakeFolder(HookFolder(folder, spec.run_id)));
  ASSIGN_OR_RETURN(FileLock lock, FileLock::Take(OwnerLock(folder, spec.run_id)));
  if (fs::exists(Path(folder, spec.run_id, kIntentEnd), error)) {
    return absl::UnavailableError(fmt::format("there is an intent of run {} already", spec.run_id));
  }
  Intent intent{.spec = spec, .created = created};
  for (HookSpec* hook :
       {&intent.spec.hooks.rollout, &intent.spec.hooks.promote, &intent.spec.hooks.rollback}) {
    const fs::path directory = hook->directory.empty() ? fs::path(".") : fs::path(hook->directory);
    hook->directory = fs::absolute(directory, error).lexically_normal().string();
  }
  RETURN_IF_ERROR(CheckIntent(intent.spec));  // The folder that we stand in is text as well.
  ASSIGN_OR_RETURN(intent.token, NewToken());
  intent.holder = MarkOf(::getpid());
  auto held = std::unique_ptr<RunIntent>(new RunIntent(folder, std::move(lock), std::move(intent)));
  if (const Status status = held->Save(); !status.ok()) {
    (void)held->Remove();
    return status;
  }
  return held;
}

StatusOr<std::unique_ptr<RunIntent>> RunIntent::TakeOver(const std::string& store_folder,
                                                         const std::string& run_id,
                                                         HolderKind kind) {
  std::error_code error;
  const std::string folder = fs::absolute(store_folder, error).string();
  if (error) return absl::InternalError(fmt::format("{}: {}", store_folder, error.message()));
  RETURN_IF_ERROR(Read(folder, run_id).status());
  ASSIGN_OR_RETURN(FileLock lock, FileLock::Take(OwnerLock(folder, run_id)));
  auto intent = Read(folder, run_id);  // As the one before us left it.
  if (!intent.ok()) {
    if (absl::IsNotFound(intent.status())) ::unlink(OwnerLock(folder, run_id).c_str());
    return intent.status();
  }
  intent->holder_kind = kind;
  intent->holder = MarkOf(::getpid());
  auto held =
      std::unique_ptr<RunIntent>(new RunIntent(folder, std::move(lock), *std::move(intent)));
  // A full disk keeps nobody from rolling back; the lock says who holds it.
  (void)held->Save();
  return held;
}

HookTrail RunIntent::trail() const {
  return {.lock_path = HookLockPath(), .token = intent_.token};
}

std::string RunIntent::HookLockPath() const {
  return HookLock(folder_, intent_.spec.run_id);
}

std::string RunIntent::OutputPath(HookPhase phase, std::uint32_t attempt) const {
  return fmt::format("{}/{}-{}.log", HookFolder(folder_, intent_.spec.run_id), Name(phase),
                     attempt);
}

HookOutcome RunIntent::WithOutput(HookOutcome outcome) const {
  FileTail tail = ReadTail(OutputPath(outcome.phase, outcome.attempt), kHookTailBytesMax);
  outcome.output = std::move(tail.bytes);
  outcome.output_cut_bytes = tail.cut_bytes;
  return outcome;
}

Status RunIntent::NoteStart(HookPhase phase, std::uint32_t attempt, int pid, WallTime started) {
  NotedHook hook{.process = MarkOf(pid)};
  hook.outcome.phase = phase;
  hook.outcome.attempt = attempt;
  hook.outcome.started = started;
  intent_.hooks.push_back(std::move(hook));
  return Save();
}

Status RunIntent::NoteEnd(const HookOutcome& outcome) {
  NotedHook* noted = nullptr;
  for (NotedHook& hook : intent_.hooks) {
    if (hook.outcome.phase == outcome.phase && hook.outcome.attempt == outcome.attempt) {
      noted = &hook;
    }
  }
  if (noted == nullptr) noted = &intent_.hooks.emplace_back();
  noted->ended = true;
  noted->outcome = outcome;
  noted->outcome.output.clear();
  noted->outcome.output_cut_bytes = 0;
  return Save();
}

Status RunIntent::Say(WallTime at, std::string_view text) {
  intent_.said.push_back({at, std::string(text)});
  return Save();
}

Status RunIntent::SetState(IntentState state) {
  intent_.state = state;
  return Save();
}

Status RunIntent::ForgetSaid() {
  intent_.said.clear();
  return Save();
}

Status RunIntent::Remove() {
  const std::string& run_id = intent_.spec.run_id;
  RETURN_IF_ERROR(RemoveDurably(Path(folder_, run_id, kIntentEnd)));
  ::unlink(HookLock(folder_, run_id).c_str());
  ::unlink(OwnerLock(folder_, run_id).c_str());  // While it is ours: see FileLock::Take().
  lock_.Close();
  return absl::OkStatus();
}

Status RunIntent::Save() const {
  return WriteDurably(Path(folder_, intent_.spec.run_id, kIntentEnd), EncodeIntent(intent_));
}

std::vector<std::string> ListIntents(const std::string& store_folder) {
  std::vector<std::string> ids;
  std::error_code error;
  fs::directory_iterator at(fs::path(store_folder) / "intents", error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (at->path().extension() == kIntentEnd) ids.push_back(at->path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

StatusOr<Intent> ReadIntent(const std::string& store_folder, const std::string& run_id) {
  return Read(store_folder, run_id);
}

bool IsHeld(const std::string& store_folder, const std::string& run_id) {
  const auto held = FileLock::Held(OwnerLock(store_folder, run_id));
  return held.ok() && *held;
}

std::string HookFolder(const std::string& store_folder, const std::string& run_id) {
  return (fs::path(store_folder) / "hooks" / run_id).string();
}

}  // namespace plimsoll
