#pragma once

#include <functional>
#include <string>

#include "routh/impact/uniqueness.h"

/// P1 Theorem 9 in numbers: how many samples of Algorithm 2, of how many steps, with which last
/// step, are an ε-net of the set of outcomes with probability 1 - δ. Velocities are those of
/// contact space, ε [m/s] is the Euclidean distance of all contact velocities together, and
/// Lipschitz constants are measured in the metric of kinetic energy, z with c = R z, G = R Rᵀ,
/// which knows no units; the proof is P1's word for word with c in place of v.
///
///   ρ = min |r| : r · Rᵀd ≥ 1 for the edges d of all contacts        Lemma 6
///   S = 2 ρ |z⁻|                                                     impulse of an impact, Prop. 4
///   N = 2 ⌈S (m + 1)/h⌉ + ⌈(m + 1)² ln(2/δ)⌉                         Theorem 8, for δ/2
///   ψ = Σ_i max_e |G d_e|,   last step η = ε/(3ψ)                    Algorithm 2
///   L_z, L_λ: of a step, the largest over its contact modes           Lemma 7
///   δ₉ = η / (ρ (L_z + 1) κ),  κ = min |w| : R_n w ≥ 1               Lemma 9
///   ε' = min(ε/3, δ₉/2)                                              (166)
///   Ω = ⌈√(Nm) |R| L_λ √(Σ_{k<N} L_z^2k) / ε'⌉^-Nm,   M = ln(δΩ/2)/ln(1 - Ω)     (171)
///
/// Where P1 only says that there is such a number, this says which: Lemma 9's δ by the argument
/// above. Lemma 10's N is not to be had that way, its proof is by compactness; N here is that of
/// Theorem 8, so the net is one of what N steps reach, and a sample needs more with probability δ/2
/// at the most. L^N makes M astronomical wherever L exceeds one.
namespace routh {

struct CertificateOptions {
  double epsilon = 0;  ///< [m/s]
  double delta = 0.05;
  double step = 0;  ///< h [N s]
  std::function<bool()> stop = {};
};

struct [[nodiscard]] SamplerCertificate {
  /// P1 Assumption 6, without which there is no certificate.
  UniquenessResult uniqueness;
  double epsilon = 0, delta = 0;
  double impulse_per_speed = 0;  ///< 2 ρ [N s per √(2 J)]: impulse ≤ this · |v⁻|_M, from any start
  double most_impulse = 0;                      ///< S [N s], of this impact
  double steps = 0;                             ///< N; infinite where an impact need not end
  double final_step = 0;                        ///< [N s]
  double lipschitz = 0, lipschitz_impulse = 0;  ///< L_z, and L_λ of draws relative to h [√(2 J)]
  double log10_samples = 0;                     ///< of M; infinite without Assumption 6

  /// Are so many samples enough? Never without Assumption 6.
  bool holds(double samples) const;
};

/// Throws std::invalid_argument where an option is none, in space with circular cones, or with
/// restitution; std::invalid_argument too where the friction cone is not pointed.
SamplerCertificate certificate(const ImpactProblem& problem, const CertificateOptions& options);

}  // namespace routh
