//! The closed set of numbers through which mixed lists of elements are seen.
//!
//! An author writes an element once, generic over [`Real`]. A model holds a list of *different* elements, which needs
//! trait objects, and a trait object cannot have generic methods. The bridge is this: for each *kind* of element
//! (bodies, forces, …) there is a [`Family`] naming the object type for each scalar, and the erased element hands out that
//! view for every member of the closed set ([`Erased`]). [`Scalar::view`] picks the right one by type:
//!
//! ```text
//! S::view::<Forces, _>(&*self.forces[i]).apply(…)      // the same element on f64, duals, lanes or recorded
//! ```
//!
//! Adding an element needs nothing here. Adding a *reading* means one more method on [`Erased`].

use crate::jet::Jet;
use crate::lanes::Lanes;
use crate::real::Real;
use crate::trace::Trace;

/// A value with one derivative: along a direction, or along time.
pub type Dual = Jet<f64, 1>;
/// A value with six derivatives at once: the width in which tangents are computed.
pub type Duals = Jet<f64, 6>;
/// A value with a mixed second derivative.
pub type Dual2 = Jet<Jet<f64, 1>, 1>;
/// Four states side by side.
pub type Lanes4 = Lanes<4>;

/// A number of the closed set: one that elements in mixed lists can be evaluated with.
pub trait Scalar: Real {
    /// The view of an erased element for this number.
    fn view<F: Family, E: Erased<F> + ?Sized>(element: &E) -> &F::On<Self>;
}

/// A kind of element: for each scalar the object type by which it is used.
pub trait Family {
    /// The object type on scalar `S`, for instance `dyn BodyOn<S>`.
    type On<S: Scalar>: ?Sized;
}

/// An element that can be seen through every scalar of the closed set.
pub trait Erased<F: Family> {
    /// As plain numbers.
    fn real(&self) -> &F::On<f64>;
    /// As one derivative.
    fn dual(&self) -> &F::On<Dual>;
    /// As six derivatives.
    fn duals(&self) -> &F::On<Duals>;
    /// As a second derivative.
    fn dual2(&self) -> &F::On<Dual2>;
    /// As four states.
    fn lanes(&self) -> &F::On<Lanes4>;
    /// As an expression that is recorded.
    fn trace(&self) -> &F::On<Trace>;
}

impl Scalar for f64 {
    fn view<F: Family, E: Erased<F> + ?Sized>(element: &E) -> &F::On<Self> {
        element.real()
    }
}
impl Scalar for Dual {
    fn view<F: Family, E: Erased<F> + ?Sized>(element: &E) -> &F::On<Self> {
        element.dual()
    }
}
impl Scalar for Duals {
    fn view<F: Family, E: Erased<F> + ?Sized>(element: &E) -> &F::On<Self> {
        element.duals()
    }
}
impl Scalar for Dual2 {
    fn view<F: Family, E: Erased<F> + ?Sized>(element: &E) -> &F::On<Self> {
        element.dual2()
    }
}
impl Scalar for Lanes4 {
    fn view<F: Family, E: Erased<F> + ?Sized>(element: &E) -> &F::On<Self> {
        element.lanes()
    }
}
impl Scalar for Trace {
    fn view<F: Family, E: Erased<F> + ?Sized>(element: &E) -> &F::On<Self> {
        element.trace()
    }
}
