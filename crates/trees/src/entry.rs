//! Entry points for plain numbers, at the speed of the processor they run on.
//!
//! Each algorithm is compiled twice: for every processor of its architecture, and for those with 256-bit vectors and fused
//! multiplication. The choice is made once, when an entry point is made. The two readings differ by rounding only; a machine
//! always gives the same bits, and [`Level::portable`] gives the same bits on all of them. [`one`] computes one state at a
//! time, [`four`] four side by side at the cost of one and a half.
//!
//! Beside `dalembert_graph::machine` this is the only module of the project with `unsafe` code. It is of two sorts: calls of functions compiled for more
//! instructions, after asking the processor; and views of slices of numbers as slices of the same numbers under another name.
#![allow(unsafe_code)]
#![cfg_attr(not(target_arch = "x86_64"), allow(unused_unsafe))]

use crate::columns::{Alone, Fours, Pack};
use crate::derivatives::Arranged;
use crate::fast::{Fast, FastLanes};
use crate::placement::Placements;
use crate::subspace::Layout;
use crate::{Tree, Wrench, aba, crba, derivatives, rnea};
use dalembert_methods::Real;

/// Which instructions entry points may use. A level beyond the processor cannot be had.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Level {
    fused: bool,
}

impl Level {
    /// The best that this processor can do.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        let fused = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
        // Fused multiplication belongs to every processor of this architecture.
        #[cfg(target_arch = "aarch64")]
        let fused = true;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let fused = false;
        Self { fused }
    }

    /// What every processor of the architecture can do.
    pub fn portable() -> Self {
        Self { fused: false }
    }

    /// Whether products and sums are fused.
    pub fn is_fused(self) -> bool {
        self.fused
    }
}

/// Scratch of one reading; `Fused` exists only if the processor has the instructions, see [`Level`].
#[derive(Clone, Debug)]
enum Reading<P, F> {
    Portable(P),
    Fused(F),
}

impl<P, F> Reading<P, F> {
    fn new(level: Level, portable: impl FnOnce() -> P, fused: impl FnOnce() -> F) -> Self {
        if level.fused { Self::Fused(fused()) } else { Self::Portable(portable()) }
    }
}

/// A number that is laid out as `I` is, and may be seen as such.
///
/// # Safety
/// The two types must have the same size, alignment and validity.
unsafe trait SeenAs<I>: Real {
    #[inline(always)]
    fn view(x: &[I]) -> &[Self] {
        // SAFETY: same layout and validity by the contract of the trait; length and lifetime are kept.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
    }
    #[inline(always)]
    fn view_mut(x: &mut [I]) -> &mut [Self] {
        // SAFETY: as above; the borrow is unique and stays so.
        unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
    }
    #[inline(always)]
    fn unview(x: &[Self]) -> &[I] {
        // SAFETY: as above, in the other direction.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
    }
}

// SAFETY: `Fast` is `repr(transparent)` over `f64`.
unsafe impl<const F: bool> SeenAs<f64> for Fast<F> {}
// SAFETY: both are `repr(C, align(32))` structs of the same array.
unsafe impl<const F: bool> SeenAs<FastLanes<4, false>> for FastLanes<4, F> {}

/// Defines the second compilation of an algorithm.
macro_rules! fused {
    ($name:ident [$($late:ident)?] = $path:path, $work:ty, [$($arg:ident: $type:ty),*]) => {
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
        fn $name<T: Real $(, const $late: bool)?>(tree: &Tree, $($arg: $type,)* work: &mut $work, out: &mut [T]) {
            $path(tree, $($arg,)* work, out);
        }
    };
}
fused!(rnea_fused [LATE] = rnea::passes::<T, LATE>, rnea::Work<T>, [q: &[T], v: &[T], a: &[T], external: &[Wrench<T>]]);
fused!(aba_fused [] = aba::aba, aba::Work<T>, [q: &[T], v: &[T], tau: &[T], external: &[Wrench<T>]]);
fused!(crba_fused [] = crba::crba, crba::Work<T>, [q: &[T]]);

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
fn rnea_derivatives_fused<T: Real>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    a: &[T],
    external: &[Wrench<T>],
    placements: Option<&Placements<T>>,
    work: &mut derivatives::Work<T>,
    out: &mut derivatives::RneaDerivatives<T>,
) {
    match &mut work.0 {
        Arranged::Few(work) if derivatives::Work::<T>::SINGLE => {
            arranged_fused(tree, q, v, a, external, placements, work, out);
        }
        Arranged::Few(_) => unreachable!("numbers side by side are arranged in rows"),
        Arranged::Many(work) => arranged_fused(tree, q, v, a, external, placements, work, out),
    }
}

/// Each layout is a function of its own: one that held both would be too large to be optimised well.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[inline(never)]
fn arranged_fused<T: Real, L: Layout<T>>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    a: &[T],
    external: &[Wrench<T>],
    placements: Option<&Placements<T>>,
    work: &mut derivatives::Scratch<T, L>,
    out: &mut derivatives::RneaDerivatives<T>,
) {
    derivatives::arranged(tree, q, v, a, external, placements, work, out);
}

/// From this number of velocities on the wider packs of columns are the faster ones.
const WIDE: usize = 16;

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
fn aba_derivatives_fused<T: Real, P: Pack<T>, Q: Pack<T>>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    tau: &[T],
    external: &[Wrench<T>],
    work: &mut derivatives::ForwardWork<T>,
    out: &mut derivatives::AbaDerivatives<T>,
) {
    aba_fused(tree, q, v, tau, external, &mut work.aba, &mut out.acceleration);
    let derivatives::ForwardWork { aba, rnea, inverse, .. } = &mut *work;
    rnea_derivatives_fused(tree, q, v, &out.acceleration, external, Some(&aba.placements), rnea, inverse);
    if tree.nv >= WIDE {
        derivatives::solve::<T, Q>(tree, work, out);
    } else if tree.nv >= P::WIDTH {
        derivatives::solve::<T, P>(tree, work, out);
    } else {
        derivatives::solve::<T, Alone<T>>(tree, work, out);
    }
}

fn aba_portable<T: Real>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    tau: &[T],
    external: &[Wrench<T>],
    work: &mut aba::Work<T>,
    out: &mut [T],
) {
    aba::aba(tree, q, v, tau, external, work, out);
}

fn rnea_derivatives_portable<T: Real>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    a: &[T],
    external: &[Wrench<T>],
    work: &mut derivatives::Work<T>,
    out: &mut derivatives::RneaDerivatives<T>,
) {
    derivatives::rnea_derivatives(tree, q, v, a, external, work, out);
}

fn aba_derivatives_portable<T: Real, P: Pack<T>, Q: Pack<T>>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    tau: &[T],
    external: &[Wrench<T>],
    work: &mut derivatives::ForwardWork<T>,
    out: &mut derivatives::AbaDerivatives<T>,
) {
    aba_portable(tree, q, v, tau, external, &mut work.aba, &mut out.acceleration);
    let derivatives::ForwardWork { aba, rnea, inverse, .. } = &mut *work;
    derivatives::passes(tree, q, v, &out.acceleration, external, Some(&aba.placements), rnea, inverse);
    if tree.nv >= WIDE {
        derivatives::solve::<T, Q>(tree, work, out);
    } else if tree.nv >= P::WIDTH {
        derivatives::solve::<T, P>(tree, work, out);
    } else {
        derivatives::solve::<T, Alone<T>>(tree, work, out);
    }
}

/// Copies wrenches to the numbers of a reading.
#[inline(always)]
fn copy<I: Copy, T: SeenAs<I>>(external: &[Wrench<I>], out: &mut Vec<Wrench<T>>) {
    out.clear();
    out.extend(external.iter().map(|w| {
        let (f, n) = (T::view(&w.force.0), T::view(&w.torque.0));
        Wrench {
            force: dalembert_methods::vector::Vec3([f[0], f[1], f[2]]),
            torque: dalembert_methods::vector::Vec3([n[0], n[1], n[2]]),
        }
    }));
}

macro_rules! entries {
    ($(#[$doc:meta])* $module:ident, $io:ty, $portable:ty, $fused:ty, $late:literal, [$pack:ty, $wide:ty], [$pack_fused:ty, $wide_fused:ty]) => {
        $(#[$doc])*
        pub mod $module {
            use super::*;
            type Pair<W> = (W, Vec<Wrench<$portable>>);
            type FusedPair<W> = (W, Vec<Wrench<$fused>>);

            /// Inverse dynamics, [`crate::rnea`].
            #[derive(Clone, Debug)]
            pub struct Rnea {
                work: Reading<Pair<rnea::Work<$portable>>, FusedPair<rnea::Work<$fused>>>,
            }
            impl Rnea {
                /// Scratch for this tree.
                pub fn new(tree: &Tree, level: Level) -> Self {
                    let n = tree.bodies();
                    let portable = || (rnea::Work::new(tree), Vec::with_capacity(n));
                    Self { work: Reading::new(level, portable, || (rnea::Work::new(tree), Vec::with_capacity(n))) }
                }
                /// The generalised forces `tau` for the accelerations `a`, under a wrench on every moving body or none.
                pub fn compute(
                    &mut self,
                    tree: &Tree,
                    q: &[$io],
                    v: &[$io],
                    a: &[$io],
                    external: &[Wrench<$io>],
                    tau: &mut [$io],
                ) {
                    match &mut self.work {
                        Reading::Portable((work, wrenches)) => {
                            copy(external, wrenches);
                            let (q, v, a) = (SeenAs::view(q), SeenAs::view(v), SeenAs::view(a));
                            rnea::passes::<$portable, $late>(tree, q, v, a, wrenches, work, SeenAs::view_mut(tau));
                        }
                        Reading::Fused((work, wrenches)) => {
                            copy(external, wrenches);
                            let (q, v, a) = (SeenAs::view(q), SeenAs::view(v), SeenAs::view(a));
                            // SAFETY: this reading exists only where the processor has the instructions.
                            unsafe { rnea_fused::<$fused, $late>(tree, q, v, a, wrenches, work, SeenAs::view_mut(tau)) };
                        }
                    }
                }
            }

            /// Forward dynamics, [`crate::aba`].
            #[derive(Clone, Debug)]
            pub struct Aba {
                work: Reading<Pair<aba::Work<$portable>>, FusedPair<aba::Work<$fused>>>,
            }
            impl Aba {
                /// Scratch for this tree.
                pub fn new(tree: &Tree, level: Level) -> Self {
                    let n = tree.bodies();
                    let portable = || (aba::Work::new(tree), Vec::with_capacity(n));
                    Self { work: Reading::new(level, portable, || (aba::Work::new(tree), Vec::with_capacity(n))) }
                }
                /// The accelerations `out` under the forces `tau` and a wrench on every moving body or none.
                pub fn compute(
                    &mut self,
                    tree: &Tree,
                    q: &[$io],
                    v: &[$io],
                    tau: &[$io],
                    external: &[Wrench<$io>],
                    out: &mut [$io],
                ) {
                    match &mut self.work {
                        Reading::Portable((work, wrenches)) => {
                            copy(external, wrenches);
                            let (q, v, tau) = (SeenAs::view(q), SeenAs::view(v), SeenAs::view(tau));
                            aba_portable::<$portable>(tree, q, v, tau, wrenches, work, SeenAs::view_mut(out));
                        }
                        Reading::Fused((work, wrenches)) => {
                            copy(external, wrenches);
                            let (q, v, tau) = (SeenAs::view(q), SeenAs::view(v), SeenAs::view(tau));
                            // SAFETY: this reading exists only where the processor has the instructions.
                            unsafe { aba_fused::<$fused>(tree, q, v, tau, wrenches, work, SeenAs::view_mut(out)) };
                        }
                    }
                }
            }

            /// The mass matrix, [`crate::crba`].
            #[derive(Clone, Debug)]
            pub struct Crba {
                work: Reading<crba::Work<$portable>, crba::Work<$fused>>,
            }
            impl Crba {
                /// Scratch for this tree.
                pub fn new(tree: &Tree, level: Level) -> Self {
                    Self { work: Reading::new(level, || crba::Work::new(tree), || crba::Work::new(tree)) }
                }
                /// The lower triangle of the mass matrix; entries that are always zero are not written.
                pub fn compute(&mut self, tree: &Tree, q: &[$io], out: &mut [$io]) {
                    match &mut self.work {
                        Reading::Portable(work) => {
                            crba::crba::<$portable>(tree, SeenAs::view(q), work, SeenAs::view_mut(out));
                        }
                        Reading::Fused(work) => {
                            // SAFETY: this reading exists only where the processor has the instructions.
                            unsafe { crba_fused::<$fused>(tree, SeenAs::view(q), work, SeenAs::view_mut(out)) };
                        }
                    }
                }
            }

            /// The derivatives of inverse dynamics, [`crate::derivatives::rnea_derivatives`].
            #[derive(Clone, Debug)]
            pub struct RneaDerivatives {
                work: Reading<
                    Pair<(derivatives::Work<$portable>, derivatives::RneaDerivatives<$portable>)>,
                    FusedPair<(derivatives::Work<$fused>, derivatives::RneaDerivatives<$fused>)>,
                >,
            }
            impl RneaDerivatives {
                /// Scratch for this tree.
                pub fn new(tree: &Tree, level: Level) -> Self {
                    let n = tree.bodies();
                    Self {
                        work: Reading::new(
                            level,
                            || {
                                let out = derivatives::RneaDerivatives::new(tree);
                                ((derivatives::Work::new(tree), out), Vec::with_capacity(n))
                            },
                            || {
                                let out = derivatives::RneaDerivatives::new(tree);
                                ((derivatives::Work::new(tree), out), Vec::with_capacity(n))
                            },
                        ),
                    }
                }
                /// Computes them at accelerations `a`; they are then read from here.
                pub fn compute(&mut self, tree: &Tree, q: &[$io], v: &[$io], a: &[$io], external: &[Wrench<$io>]) {
                    match &mut self.work {
                        Reading::Portable(((work, out), wrenches)) => {
                            copy(external, wrenches);
                            let (q, v, a) = (SeenAs::view(q), SeenAs::view(v), SeenAs::view(a));
                            rnea_derivatives_portable::<$portable>(tree, q, v, a, wrenches, work, out);
                        }
                        Reading::Fused(((work, out), wrenches)) => {
                            copy(external, wrenches);
                            let (q, v, a) = (SeenAs::view(q), SeenAs::view(v), SeenAs::view(a));
                            // SAFETY: this reading exists only where the processor has the instructions.
                            unsafe { rnea_derivatives_fused::<$fused>(tree, q, v, a, wrenches, None, work, out) };
                        }
                    }
                }
                /// τ itself.
                pub fn tau(&self) -> &[$io] {
                    match &self.work {
                        Reading::Portable(((_, out), _)) => SeenAs::unview(&out.tau),
                        Reading::Fused(((_, out), _)) => SeenAs::unview(&out.tau),
                    }
                }
                /// ∂τ/∂q by rows, along the increments of [`Tree::retract`].
                pub fn by_q(&self) -> &[$io] {
                    match &self.work {
                        Reading::Portable(((_, out), _)) => SeenAs::unview(&out.by_q),
                        Reading::Fused(((_, out), _)) => SeenAs::unview(&out.by_q),
                    }
                }
                /// ∂τ/∂v by rows.
                pub fn by_v(&self) -> &[$io] {
                    match &self.work {
                        Reading::Portable(((_, out), _)) => SeenAs::unview(&out.by_v),
                        Reading::Fused(((_, out), _)) => SeenAs::unview(&out.by_v),
                    }
                }
                /// The lower triangle of the mass matrix by rows.
                pub fn mass(&self) -> &[$io] {
                    match &self.work {
                        Reading::Portable(((_, out), _)) => SeenAs::unview(&out.mass),
                        Reading::Fused(((_, out), _)) => SeenAs::unview(&out.mass),
                    }
                }
            }

            /// The derivatives of forward dynamics, [`crate::derivatives::aba_derivatives`].
            #[derive(Clone, Debug)]
            pub struct AbaDerivatives {
                work: Reading<
                    Pair<(derivatives::ForwardWork<$portable>, derivatives::AbaDerivatives<$portable>)>,
                    FusedPair<(derivatives::ForwardWork<$fused>, derivatives::AbaDerivatives<$fused>)>,
                >,
            }
            impl AbaDerivatives {
                /// Scratch for this tree.
                pub fn new(tree: &Tree, level: Level) -> Self {
                    let n = tree.bodies();
                    Self {
                        work: Reading::new(
                            level,
                            || {
                                let out = derivatives::AbaDerivatives::new(tree);
                                ((derivatives::ForwardWork::new(tree), out), Vec::with_capacity(n))
                            },
                            || {
                                let out = derivatives::AbaDerivatives::new(tree);
                                ((derivatives::ForwardWork::new(tree), out), Vec::with_capacity(n))
                            },
                        ),
                    }
                }
                /// Computes them under the forces `tau`; they are then read from here.
                pub fn compute(&mut self, tree: &Tree, q: &[$io], v: &[$io], tau: &[$io], external: &[Wrench<$io>]) {
                    match &mut self.work {
                        Reading::Portable(((work, out), wrenches)) => {
                            copy(external, wrenches);
                            let (q, v, tau) = (SeenAs::view(q), SeenAs::view(v), SeenAs::view(tau));
                            aba_derivatives_portable::<$portable, $pack, $wide>(tree, q, v, tau, wrenches, work, out);
                        }
                        Reading::Fused(((work, out), wrenches)) => {
                            copy(external, wrenches);
                            let (q, v, tau) = (SeenAs::view(q), SeenAs::view(v), SeenAs::view(tau));
                            // SAFETY: this reading exists only where the processor has the instructions.
                            unsafe { aba_derivatives_fused::<$fused, $pack_fused, $wide_fused>(tree, q, v, tau, wrenches, work, out) };
                        }
                    }
                }
                /// The accelerations themselves.
                pub fn acceleration(&self) -> &[$io] {
                    match &self.work {
                        Reading::Portable(((_, out), _)) => SeenAs::unview(&out.acceleration),
                        Reading::Fused(((_, out), _)) => SeenAs::unview(&out.acceleration),
                    }
                }
                /// ∂a/∂q by rows, along the increments of [`Tree::retract`].
                pub fn by_q(&self) -> &[$io] {
                    match &self.work {
                        Reading::Portable(((_, out), _)) => SeenAs::unview(&out.by_q),
                        Reading::Fused(((_, out), _)) => SeenAs::unview(&out.by_q),
                    }
                }
                /// ∂a/∂v by rows.
                pub fn by_v(&self) -> &[$io] {
                    match &self.work {
                        Reading::Portable(((_, out), _)) => SeenAs::unview(&out.by_v),
                        Reading::Fused(((_, out), _)) => SeenAs::unview(&out.by_v),
                    }
                }
                /// ∂a/∂τ = M⁻¹ by rows.
                pub fn by_tau(&self) -> &[$io] {
                    match &self.work {
                        Reading::Portable(((_, out), _)) => SeenAs::unview(&out.by_tau),
                        Reading::Fused(((_, out), _)) => SeenAs::unview(&out.by_tau),
                    }
                }
            }
        }
    };
}

entries!(
    /// One state at a time.
    one,
    f64,
    Fast<false>,
    Fast<true>,
    true,
    [Fours<1, false>, Fours<2, false>],
    [Fours<1, true>, Fours<2, true>]
);
entries!(
    /// Four states side by side: entry i of a vector holds coordinate i of all four.
    four,
    FastLanes<4, false>,
    FastLanes<4, false>,
    FastLanes<4, true>,
    false,
    [Alone<FastLanes<4, false>>, Alone<FastLanes<4, false>>],
    [Alone<FastLanes<4, true>>, Alone<FastLanes<4, true>>]
);
