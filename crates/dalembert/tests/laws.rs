//! The laws of mechanics over everything registered, and proof that each of them can be broken.
#![allow(clippy::unwrap_used)]

use dalembert::bodies::{AnyBody, Body, Inertia, Rigid};
use dalembert::check::{
    self, ASSEMBLY_LAWS, BODY_LAWS, CONSTRAINT_LAWS, CONTACT_LAWS, FORCE_LAWS, SIGNAL_LAWS, try_law,
};
use dalembert::constraints::{AnyConstraint, Constraint, Holonomic, Nonholonomic, Quantity, Rolling};
use dalembert::contacts::{AnyContact, Friction, FrictionCurve, Surface, Touch, Touching};
use dalembert::element::{About, Kind, read_attached};
use dalembert::forces::{
    AnyForce, AppliedForce, AppliedTorque, Axes, Force, Gravitation, Law, NonlinearSpring, TensionPoints, TensionTable,
};
use dalembert::methods::algebra::MassBlock;
use dalembert::methods::scalar::Lanes4;
use dalembert::methods::vector::Vec3;
use dalembert::methods::{Jet, Real};
use dalembert::model::{Acceleration, Instant, Markers, Place, Point, Site, Wrench};
use dalembert::signals::{Formula, Harmonic, Interpolation, Signal, SignalRef};
use dalembert::{assemblies, bodies, constraints, contacts, forces, joints, signals};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::any::TypeId;

const SEED: u64 = 1743; // the year of the Traité de dynamique

#[test]
fn everything_registered_keeps_the_laws() {
    let findings = check::everything(SEED);
    let broken: Vec<String> = findings.iter().filter(|f| f.outcome.is_err()).map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let expected = bodies::kinds().len() * (BODY_LAWS.len() + 1)
        + forces::kinds().len() * (FORCE_LAWS.len() + 1)
        + (joints::kinds().len() + constraints::kinds().len()) * (CONSTRAINT_LAWS.len() + 1)
        + contacts::kinds().len() * (CONTACT_LAWS.len() + 1)
        + signals::kinds().len() * (SIGNAL_LAWS.len() + 1)
        + assemblies::kinds().len() * (ASSEMBLY_LAWS.len() + 1);
    assert_eq!(findings.len(), expected);
}

/// Other forms of elements whose sample shows one form only.
#[test]
fn every_form_of_a_force_keeps_the_laws() {
    let points = TensionPoints {
        stretches: vec![-1.0, -0.3, 0.1, 0.8, 1.4],
        tensions: vec![-9.0, -2.0, 0.5, 3.0, 11.0],
        interpolation: Interpolation::NotAKnot,
    };
    let spring = |law| NonlinearSpring { law, rest_length: 0.6.into(), damping: 0.4.into() };
    let wave = SignalRef::new("wave", Signal::Harmonic(Harmonic::sample()));
    let forces: Vec<Box<dyn AnyForce>> = vec![
        Box::new(spring(Law::Table(TensionTable::try_from(points).unwrap()))),
        Box::new(spring(Law::Energy(Formula::new("20*s^2 + if(s > 0, 7*s^4, 0) + exp(-s)").unwrap()))),
        Box::new(Gravitation {
            parameters: vec![1.5.into(), 0.7.into()],
            constant: 2.0.into(),
            ..Gravitation::default()
        }),
        Box::new(AppliedForce { force: [wave.clone(), 1.0.into(), 2.0.into()], axes: Axes::World }),
        Box::new(AppliedTorque { torque: [1.0.into(), wave, 2.0.into()], axes: Axes::World }),
    ];
    for force in &forces {
        for law in FORCE_LAWS {
            try_law(law, &**force, SEED).unwrap_or_else(|v| panic!("{}, law of {}: {v}", force.kind(), law.name));
        }
    }
}

/// Which laws an element breaks.
fn broken<T: ?Sized>(laws: &[check::Law<T>], element: &T) -> Vec<&'static str> {
    laws.iter().filter(|law| try_law(law, element, SEED).is_err()).map(|law| law.name).collect()
}

/// What a deliberately wrong spring does wrong.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Fault {
    None,
    /// The energy has the wrong factor.
    Energy,
    /// The damper feeds energy in.
    Heat,
    /// The reaction is missing.
    Reaction,
    /// The force does not act along the line.
    Moment,
    /// It looks at the world.
    World,
    /// Its derivative is cut off.
    Derivative,
    /// Lanes are computed in another way.
    Lanes,
    /// Its data are refused.
    Defect,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct WrongSpring {
    fault: Fault,
}

impl About for WrongSpring {
    const KIND: &'static str = "wrong_spring";
    const SUMMARY: &'static str = "A spring with a fault.";
    fn sample() -> Self {
        Self { fault: Fault::None }
    }
}

impl Force for WrongSpring {
    type Markers = [Point; 2];
    fn apply<R: Real>(&self, _: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (gap, closing) = (at[1].r - at[0].r, at[1].v - at[0].v);
        let mut pull = gap * R::from(3.0);
        match self.fault {
            Fault::Heat => pull -= gap * (gap.dot(closing) * 0.5),
            Fault::Moment => pull += gap.cross(Vec3::constant([0.0, 0.0, 1.0])),
            Fault::World => pull += Vec3([at[0].r[0], R::zero(), R::zero()]),
            // Almost the value of pull, but the derivative of round() is zero.
            Fault::Derivative => pull = gap.map(|x| (x * 3e6).round() * 1e-6),
            Fault::Lanes if TypeId::of::<R>() == TypeId::of::<Lanes4>() => pull = pull * R::from(1.0 + 1e-15),
            _ => {}
        }
        out[0] = Wrench::force(pull);
        out[1] = Wrench::force(if self.fault == Fault::Reaction { Vec3::zero() } else { -pull });
    }
    fn energy<R: Real>(&self, _: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let factor = if self.fault == Fault::Energy { 3.0 } else { 1.5 };
        (at[1].r - at[0].r).norm_squared() * factor
    }
    fn dissipation<R: Real>(&self, _: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let factor = if self.fault == Fault::Heat { -0.5 } else { 0.0 };
        (at[1].r - at[0].r).dot(at[1].v - at[0].v).square() * factor
    }
    fn defect(&self, _: usize) -> Option<(&'static str, String)> {
        (self.fault == Fault::Defect).then(|| ("fault", "has one".to_owned()))
    }
}

#[test]
fn wrong_forces_are_caught() {
    let laws = |fault| broken::<dyn AnyForce>(FORCE_LAWS, &WrongSpring { fault });
    assert_eq!(laws(Fault::None), [""; 0]);
    assert_eq!(laws(Fault::Energy), ["power"]);
    assert_eq!(laws(Fault::Heat), ["power"]); // the account closes, but heat is negative
    assert_eq!(laws(Fault::Reaction), ["power", "balance"]);
    assert_eq!(laws(Fault::Moment), ["power", "balance", "objectivity"]);
    assert_eq!(laws(Fault::World), ["power", "balance", "objectivity"]);
    assert!(laws(Fault::Derivative).contains(&"derivative"));
    assert_eq!(laws(Fault::Lanes), ["lanes"]);
    assert_eq!(laws(Fault::Defect), ["sample"]);
}

#[test]
fn wrong_signals_are_caught() {
    let laws = |signal: Signal| broken(SIGNAL_LAWS, &signal);
    assert_eq!(laws(Signal::expression("floor(1e6*t)/1e6").unwrap()), ["derivative"]);
    assert_eq!(laws(Signal::Harmonic(Harmonic::default())), ["sample"]);
}

/// A description that does not read as it was written, or belongs to something else.
#[test]
fn wrong_descriptions_are_caught() {
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    struct Forgetful {
        #[serde(deserialize_with = "half")]
        stiffness: f64,
    }
    fn half<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        f64::deserialize(from).map(|x| x / 2.0)
    }
    impl About for Forgetful {
        const KIND: &'static str = "forgetful";
        const SUMMARY: &'static str = "Forgets.";
        fn sample() -> Self {
            Self { stiffness: 2.0 }
        }
    }
    impl Force for Forgetful {
        type Markers = [Point; 2];
        fn apply<R: Real>(&self, _: &Instant<'_, R>, _: &[Place<R>], out: &mut [Wrench<R>]) {
            out.fill(Wrench::default());
        }
    }
    let kind = |read, sample| Kind::<dyn AnyForce>::new::<Forgetful>(Some(<[Point; 2]>::NEED), read, sample);
    let forgetful =
        kind(|entry| Ok(Box::new(read_attached::<Forgetful, [Point; 2]>(entry)?)), || Box::new(Forgetful::sample()));
    assert!(check::description("force", &forgetful).unwrap_err().message.contains("written"));
    let another =
        kind(|entry| Ok(Box::new(read_attached::<Forgetful, [Point; 2]>(entry)?)), || Box::new(WrongSpring::sample()));
    assert!(check::description("force", &another).unwrap_err().message.contains("wrong_spring"));
}

/// A distance with a fault in what the house asks of constraints.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct WrongRod {
    fault: RodFault,
}

#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum RodFault {
    None,
    /// It looks at the world.
    World,
    /// It moves without saying so.
    Time,
    /// It depends on velocities, so that it is not holonomic.
    Velocity,
    /// Its derivative is cut off.
    Derivative,
}

impl About for WrongRod {
    const KIND: &'static str = "wrong_rod";
    const SUMMARY: &'static str = "A rod with a fault.";
    fn sample() -> Self {
        Self { fault: RodFault::None }
    }
}

impl Constraint for WrongRod {
    type Markers = [Point; 2];
    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length]
    }
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let gap = (at[1].r - at[0].r).norm_squared();
        out[0] = match self.fault {
            RodFault::None => gap,
            RodFault::World => gap + at[0].r[2],
            RodFault::Time => gap - now.t,
            RodFault::Velocity => gap + at[0].v.norm_squared(),
            RodFault::Derivative => (gap * 1e6).round() * 1e-6,
        } - 1.0;
    }
}

/// A velocity-level constraint that is not linear in the velocities.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct WrongSkate {
    square: bool,
}

impl About for WrongSkate {
    const KIND: &'static str = "wrong_skate";
    const SUMMARY: &'static str = "A skate with a fault.";
    fn sample() -> Self {
        Self { square: true }
    }
}

impl Rolling for WrongSkate {
    type Markers = [Point; 2];
    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Velocity]
    }
    fn residual<R: Real>(&self, _: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let side = at[0].axis([0.0, 1.0, 0.0]);
        let slip = side.dot(at[1].v - at[0].v - at[0].omega.cross(at[1].r - at[0].r));
        out[0] = if self.square { slip * slip } else { slip };
    }
}

#[test]
fn wrong_constraints_are_caught() {
    let laws = |fault| broken::<dyn AnyConstraint>(CONSTRAINT_LAWS, &Holonomic(WrongRod { fault }));
    assert_eq!(laws(RodFault::None), [""; 0]);
    assert_eq!(laws(RodFault::World), ["objectivity"]);
    assert_eq!(laws(RodFault::Time), ["rate"]);
    assert!(laws(RodFault::Velocity).contains(&"rate"));
    assert!(laws(RodFault::Derivative).contains(&"gradient"));
    let skate = |square| broken::<dyn AnyConstraint>(CONSTRAINT_LAWS, &Nonholonomic(WrongSkate { square }));
    assert_eq!(skate(false), [""; 0]);
    assert!(skate(true).contains(&"rate"));
}

/// A ball with a fault in what the house asks of surfaces.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct WrongBall {
    fault: BallFault,
    friction: Friction,
    suction: SignalRef,
}

#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum BallFault {
    None,
    /// The normal has another length.
    Length,
    /// The normal points elsewhere.
    Normal,
    /// The derivative of the distance is cut off.
    Derivative,
    /// Lanes are computed in another way.
    Lanes,
    /// Friction drives.
    Friction,
}

impl About for WrongBall {
    const KIND: &'static str = "wrong_ball";
    const SUMMARY: &'static str = "A ball with a fault.";
    fn sample() -> Self {
        Self { fault: BallFault::None, friction: Friction::coulomb(0.3), suction: 1.0.into() }
    }
}

impl Surface for WrongBall {
    type Markers = Touching;
    fn distance<R: Real>(&self, _: R, at: Vec3<R>) -> (R, Vec3<R>) {
        let (mut distance, mut normal) = (at.norm() - 0.7, at * at.norm().recip());
        match self.fault {
            BallFault::Length => normal = normal * R::from(1.001),
            BallFault::Normal => normal = (normal + Vec3::constant([0.0, 0.0, 1e-3])).normalized(),
            BallFault::Derivative => distance = (distance * 1e6).round() * 1e-6,
            BallFault::Lanes if TypeId::of::<R>() == TypeId::of::<Lanes4>() => distance *= R::from(1.0 + 1e-15),
            _ => {}
        }
        (distance, normal)
    }
    fn touch(&self) -> Touch<'_> {
        Touch { radius: 0.1, restitution: 0.0, friction: &self.friction, suction: &self.suction, hollow: 0.0 }
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        None
    }
}

#[test]
fn wrong_contacts_are_caught() {
    let ball = |fault| {
        let friction = if fault == BallFault::Friction {
            Friction { curve: Some(FrictionCurve::Formula(Formula::new("0.3 - 2*u").unwrap())), ..Friction::default() }
        } else {
            Friction::coulomb(0.3)
        };
        WrongBall { fault, friction, ..WrongBall::sample() }
    };
    let laws = |fault| broken::<dyn AnyContact>(CONTACT_LAWS, &ball(fault));
    assert_eq!(laws(BallFault::None), [""; 0]);
    assert!(laws(BallFault::Length).contains(&"sample"));
    assert_eq!(laws(BallFault::Normal), ["normal"]);
    assert!(laws(BallFault::Derivative).contains(&"gradient"));
    assert_eq!(laws(BallFault::Lanes), ["lanes"]);
    assert_eq!(laws(BallFault::Friction), ["friction"]);
}

/// A rigid body with a fault.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct WrongBody {
    fault: BodyFault,
    rigid: Rigid,
}

#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum BodyFault {
    None,
    /// The moment of a force is forgotten.
    Lever,
    /// The angular velocity of places has the wrong sign.
    Spin,
    /// The tangent of the rotation group is forgotten.
    Tangent,
    /// One entry of the inertia is changed.
    Mass,
    /// The kinetic energy lacks its half.
    Kinetic,
    /// The gyroscopic term has the wrong sign.
    Gyroscope,
    /// The weight is halved.
    Weight,
    /// Centripetal acceleration is forgotten.
    Bias,
}

impl About for WrongBody {
    const KIND: &'static str = "wrong_body";
    const SUMMARY: &'static str = "A rigid body with a fault.";
    fn sample() -> Self {
        Self { fault: BodyFault::None, rigid: Rigid::sample() }
    }
}

impl Body for WrongBody {
    fn coordinates(&self) -> usize {
        7
    }
    fn velocities(&self) -> usize {
        6
    }
    fn cache(&self) -> usize {
        21
    }
    fn oriented(&self) -> bool {
        true
    }
    fn initial(&self, q: &mut [f64], v: &mut [f64]) {
        Body::initial(&self.rigid, q, v);
    }
    fn kinematics<R: Real>(&self, q: &[R], v: &[R], cache: &mut [R]) {
        Body::kinematics(&self.rigid, q, v, cache);
    }
    fn place<R: Real>(&self, site: &Site, cache: &[R]) -> Place<R> {
        let mut place = Body::place(&self.rigid, site, cache);
        if self.fault == BodyFault::Spin {
            place.omega = -place.omega;
        }
        place
    }
    fn pull_back<R: Real>(&self, site: &Site, cache: &[R], wrench: &Wrench<R>, out: &mut [R]) {
        let at_centre = Site::point(self.rigid.centre);
        let site = if self.fault == BodyFault::Lever { &at_centre } else { site };
        Body::pull_back(&self.rigid, site, cache, wrench, out);
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        Body::mass_blocks(&self.rigid)
    }
    fn mass<R: Real>(&self, block: usize, cache: &[R], out: &mut [R]) {
        Body::mass(&self.rigid, block, cache, out);
        if block == 1 && self.fault == BodyFault::Mass {
            out[1] += R::from(0.01);
        }
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn force<R: Real>(&self, cache: &[R], out: &mut [R]) {
        Body::force(&self.rigid, cache, out);
        if self.fault == BodyFault::Gyroscope {
            out.iter_mut().for_each(|f| *f = -*f);
        }
    }
    fn weight<R: Real>(&self, cache: &[R], gravity: Vec3<R>, out: &mut [R]) {
        let factor = if self.fault == BodyFault::Weight { 0.5 } else { 1.0 };
        Body::weight(&self.rigid, cache, gravity * R::from(factor), out);
    }
    fn total_mass(&self) -> f64 {
        self.rigid.mass
    }
    fn centre<R: Real>(&self, cache: &[R]) -> Vec3<R> {
        Body::centre(&self.rigid, cache)
    }
    fn kinetic<R: Real>(&self, cache: &[R]) -> R {
        Body::kinetic(&self.rigid, cache) * if self.fault == BodyFault::Kinetic { 2.0 } else { 1.0 }
    }
    fn momentum<R: Real>(&self, cache: &[R]) -> (Vec3<R>, Vec3<R>) {
        Body::momentum(&self.rigid, cache)
    }
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        Body::retract(&self.rigid, q, delta, out);
    }
    fn local_rate<R: Real>(&self, delta: &[R], v: &[R], out: &mut [R]) {
        if self.fault == BodyFault::Tangent {
            out.copy_from_slice(v);
        } else {
            Body::local_rate(&self.rigid, delta, v, out);
        }
    }
    fn local_velocity<R: Real>(&self, delta: &[R], rate: &[R], out: &mut [R]) {
        Body::local_velocity(&self.rigid, delta, rate, out);
    }
    fn local_shift<R: Real>(&self, delta: &[R], base: &[R], out: &mut [R]) {
        Body::local_shift(&self.rigid, delta, base, out);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        Body::magnitude(&self.rigid, q, out);
    }
    fn velocity_name(&self, i: usize) -> String {
        i.to_string()
    }
    fn bias<R: Real>(
        &self,
        site: &Site,
        q: &[R],
        v: &[R],
        cache: &[R],
        scratch: &mut Vec<Jet<R, 1>>,
    ) -> Acceleration<R> {
        if self.fault == BodyFault::Bias {
            return Acceleration::default();
        }
        Body::bias(&self.rigid, site, q, v, cache, scratch)
    }
}

#[test]
fn wrong_bodies_are_caught() {
    let laws = |fault| broken::<dyn AnyBody>(BODY_LAWS, &WrongBody { fault, rigid: Rigid::sample() });
    assert_eq!(laws(BodyFault::None), [""; 0]);
    assert_eq!(laws(BodyFault::Lever), ["transpose"]);
    assert_eq!(laws(BodyFault::Spin), ["transpose", "velocity", "retraction"]);
    assert_eq!(laws(BodyFault::Tangent), ["retraction"]);
    assert!(laws(BodyFault::Mass).contains(&"mass"));
    assert_eq!(laws(BodyFault::Kinetic), ["mass"]);
    assert_eq!(laws(BodyFault::Gyroscope), ["momentum"]);
    assert_eq!(laws(BodyFault::Weight), ["weight"]);
    assert_eq!(laws(BodyFault::Bias), ["velocity"]);
    let mut indefinite = WrongBody::sample();
    indefinite.rigid.inertia = Inertia::principal([0.3, -0.4, 0.5]);
    assert!(broken::<dyn AnyBody>(BODY_LAWS, &indefinite).contains(&"mass"));
}
