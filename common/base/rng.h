// Seeded randomness that gives the same draws on every host: our own mixing and distributions,
// since the standard library's distributions differ between implementations.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll {

// Finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection on 64 bits with full avalanche.
constexpr std::uint64_t Mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Order-dependent combination of several values into one key.
constexpr std::uint64_t MixKey(std::uint64_t a) {
  return Mix64(a);
}
template <typename... Rest>
constexpr std::uint64_t MixKey(std::uint64_t a, std::uint64_t b, Rest... rest) {
  return MixKey(Mix64(a) ^ (b + 0x632be59bd9b4e019ULL), rest...);
}

// FNV-1a over the bytes, mixed: a key for a name ("arrivals", a header's value).
constexpr std::uint64_t HashBytes(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return Mix64(hash);
}

// A stream of draws (splitmix64). Fork(purpose) gives an independent stream, so that adding a draw
// to one purpose does not move another's.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(Mix64(seed)) {}

  std::uint64_t Next() { return Mix64(state_ += 0x9e3779b97f4a7c15ULL); }
  // Uniform in [0, 1), 53 bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Uniform in [0, bound); bound > 0. The bias is below bound / 2^64.
  std::uint64_t Below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((Wide{Next()} * bound) >> 64);
  }
  bool Chance(double probability) { return Uniform() < probability; }
  // Standard normal, by inversion of one uniform draw: one draw a value keeps streams aligned.
  double Normal();
  // exp(sigma * Normal()): median 1.
  double Lognormal(double sigma);
  // Mean 1.
  double Exponential();

  Rng Fork(std::string_view purpose) const { return Rng(MixKey(state_, HashBytes(purpose))); }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t state_;
};

// Inverse of the standard normal distribution function, 0 < p < 1; relative error below 1.2e-9
// (rational approximation by P. J. Acklam, 2003).
double NormalQuantile(double p);

}  // namespace plimsoll
