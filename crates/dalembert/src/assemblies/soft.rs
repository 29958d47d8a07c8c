//! A soft body on a hard support: body, material, incompressibility and contact fields from a few numbers (\[1\]).
//!
//! The assembly `blob` makes
//!
//! | element | name |
//! |---|---|
//! | the body: `rigid`, `affine`, `affine_plane` or `isochoric_plane` | `blob` |
//! | its material, unless it is rigid | `blob_material` |
//! | its incompressibility, if kept by a multiplier | `blob_volume` |
//! | contact fields with each of its supports | `blob_contact`, `blob_contact2`, … |
//!
//! Supports are planes of the ground. A repulsion without a coefficient is that at which the undeformed body rests at `rest_distance` under
//! its weight (\[1\], after (34)), the whole boundary counted.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support.

use super::Assembly;
use crate::bodies::{Affine, AffinePlane, Inertia, IsochoricPlane, Plane, Rigid};
use crate::constraints::Incompressible;
use crate::element::About;
use crate::forces::contact_field::{Adhesion, Coulomb, Given, Repulsion, Resistance, Strength};
use crate::forces::{ContactField, Elastic};
use crate::materials::{Contraction, Material, NeoHookean};
use crate::model::{AffineFrame, Builder, ModelError, Orientation};
use crate::shapes::{Disc, Form, Shape};
use crate::signals::SignalRef;
use dalembert_methods::vector::{Mat3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A soft or rigid body on plane supports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Soft {
    /// Reference shape; plane shapes move in the x–z plane.
    pub shape: Shape,
    /// Density in the reference shape.
    #[schemars(extend("unit" = "kg/m³"))]
    pub density: f64,
    /// How it deforms.
    #[serde(default)]
    pub mode: Mode,
    /// The energy density; not for rigid bodies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<Material>,
    /// Bulk modulus of a compressible body.
    #[schemars(extend("unit" = "Pa"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bulk: Option<f64>,
    /// Viscosity.
    #[schemars(extend("unit" = "Pa s"))]
    #[serde(default)]
    pub viscosity: f64,
    /// How the relaxed shape changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contraction: Option<Contraction>,
    /// Resistance to a prescribed contraction; a driven one has its own.
    #[schemars(extend("unit" = "Pa s"))]
    #[serde(default)]
    pub resistance: f64,
    /// Initial position of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub position: [f64; 3],
    /// Initial orientation of a body in space.
    #[serde(default)]
    pub orientation: Orientation,
    /// Initial angle of a body in a plane, counterclockwise with x to the right and z up.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default)]
    pub angle: f64,
    /// Initial deformation gradient before it is turned.
    #[schemars(extend("unit" = "1"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient: Option<[[f64; 3]; 3]>,
    /// Initial velocity in the world frame.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Initial angular velocity in the world frame; in a plane about −y.
    #[schemars(extend("unit" = "rad/s"))]
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// The supports: the plane z = 0 unless given.
    #[serde(default = "floor")]
    pub supports: Vec<Support>,
    /// Factor of all tractions: a number or the name of a signal.
    #[schemars(extend("unit" = "1"))]
    #[serde(default = "full")]
    pub strength: SignalRef,
    /// Distance at which the undeformed body rests under its weight; sets the repulsion.
    #[schemars(extend("unit" = "m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_distance: Option<f64>,
    /// Power of the repulsion that `rest_distance` sets.
    #[serde(default = "eight")]
    pub power: usize,
    /// Repulsion, in place of `rest_distance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repulsion: Option<Repulsion>,
    /// Damping of the normal velocity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<Resistance>,
    /// Viscous friction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<Resistance>,
    /// Regularised Coulomb friction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coulomb: Option<Coulomb>,
    /// Adhesion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adhesion: Option<Adhesion>,
}

/// How a body deforms.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Not at all.
    Rigid,
    /// At constant volume, by a constraint whose multiplier is the pressure.
    #[default]
    Incompressible,
    /// At constant volume in a plane, by the parametrisation of the stretch, without a constraint.
    Parametrised,
    /// Freely; a bulk modulus resists changes of volume.
    Compressible,
}

/// A plane of the ground.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// A point of it, in the world frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub at: [f64; 3],
    /// Its outer normal.
    #[serde(default = "up")]
    pub normal: [f64; 3],
}

fn up() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}
fn floor() -> Vec<Support> {
    vec![Support { at: [0.0; 3], normal: up() }]
}
fn full() -> SignalRef {
    1.0.into()
}
fn eight() -> usize {
    8
}

impl Soft {
    /// An incompressible body without material yet, on the plane z = 0 without laws yet.
    pub fn new(shape: Shape, density: f64) -> Self {
        Self {
            shape,
            density,
            mode: Mode::default(),
            material: None,
            bulk: None,
            viscosity: 0.0,
            contraction: None,
            resistance: 0.0,
            position: [0.0; 3],
            orientation: Orientation::default(),
            angle: 0.0,
            gradient: None,
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            supports: floor(),
            strength: full(),
            rest_distance: None,
            power: eight(),
            repulsion: None,
            damping: None,
            friction: None,
            coulomb: None,
            adhesion: None,
        }
    }

    fn repulsion(&self, gravity: [f64; 3]) -> Result<Option<Repulsion>, (&'static str, String)> {
        match (self.rest_distance, &self.repulsion) {
            (Some(_), Some(_)) => Err(("rest_distance", "give either `rest_distance` or `repulsion`".to_owned())),
            (Some(at), None) => {
                let weight = self.density * self.shape.solid().volume * Vec3(gravity).norm();
                if weight.is_nan() || weight <= 0.0 {
                    let message = "without gravity nothing rests: give a `repulsion` instead".to_owned();
                    return Err(("rest_distance", message));
                }
                if !(at > 0.0 && at.is_finite()) {
                    return Err(("rest_distance", format!("a distance must be positive, found {at} m")));
                }
                let coefficient = Strength::Rest { weight, at };
                Ok(Some(Repulsion { coefficient, power: self.power }))
            }
            (None, repulsion) => Ok(repulsion.clone()),
        }
    }

    fn body(&self, name: &str, builder: &mut Builder) -> Result<AffineFrame, (&'static str, String)> {
        let Self { shape, density, position, velocity, .. } = self;
        if self.shape.is_plane() && (self.orientation != Orientation::default() && self.mode != Mode::Rigid) {
            return Err(("orientation", "a body in a plane has an `angle`".to_owned()));
        }
        if !self.shape.is_plane() && self.angle != 0.0 {
            return Err(("angle", "a body in space has an `orientation`".to_owned()));
        }
        if self.mode == Mode::Rigid {
            if self.gradient.is_some() {
                return Err(("gradient", "a rigid body cannot be deformed".to_owned()));
            }
            let solid = shape.solid();
            let e = solid.second * *density;
            // J = tr(E) 1 − E.
            let trace = e.0[0][0] + e.0[1][1] + e.0[2][2];
            let inertia = Inertia { matrix: Mat3::identity() * trace + e * -1.0 };
            let turned = Orientation::AxisAngle { axis: [0.0, -1.0, 0.0], angle: self.angle };
            let rigid = Rigid {
                mass: density * solid.volume,
                inertia,
                centre: solid.centre.0,
                position: *position,
                orientation: if self.angle == 0.0 { self.orientation } else { turned },
                velocity: *velocity,
                angular_velocity: self.angular_velocity,
            };
            let body = builder.body(name, rigid);
            return Ok(builder.affine_frame(body));
        }
        if !shape.is_plane() {
            if self.mode == Mode::Parametrised {
                let message = "only bodies in a plane are parametrised; use `incompressible`".to_owned();
                return Err(("mode", message));
            }
            let body = builder.body(
                name,
                Affine {
                    position: *position,
                    orientation: self.orientation,
                    gradient: self.gradient.unwrap_or(Mat3::identity().0),
                    velocity: *velocity,
                    angular_velocity: self.angular_velocity,
                    ..Affine::new(shape.clone(), *density)
                },
            );
            return Ok(builder.affine_frame(body));
        }
        let mut plane = AffinePlane {
            plane: Plane::Xz,
            position: *position,
            angle: self.angle,
            velocity: *velocity,
            angular_velocity: -self.angular_velocity[1],
            ..AffinePlane::new(shape.clone(), *density)
        };
        if let Some(g) = self.gradient {
            plane.gradient = [[g[0][0], g[0][2]], [g[2][0], g[2][2]]];
        }
        if self.mode == Mode::Parametrised {
            let body = builder.body(name, IsochoricPlane::from(plane));
            return Ok(builder.affine_frame(body));
        }
        let body = builder.body(name, plane);
        Ok(builder.affine_frame(body))
    }

    fn material(&self, name: &str, frame: AffineFrame, builder: &mut Builder) -> Result<(), (&'static str, String)> {
        let Some(material) = &self.material else {
            let needed = self.mode != Mode::Rigid;
            let message = "a body that deforms needs a material".to_owned();
            return if needed { Err(("material", message)) } else { Ok(()) };
        };
        match (self.mode, self.bulk) {
            (Mode::Rigid, _) => return Err(("material", "a rigid body has no material".to_owned())),
            (Mode::Compressible, None) if !matches!(material, Material::SaintVenantKirchhoff(_)) => {
                return Err(("bulk", "a compressible body needs a bulk modulus".to_owned()));
            }
            (Mode::Incompressible | Mode::Parametrised, Some(_)) => {
                return Err(("bulk", "an incompressible body has no bulk modulus".to_owned()));
            }
            _ => {}
        }
        let volume = self.shape.solid().volume;
        let keeps = self.contraction.as_ref().is_none_or(Contraction::is_isochoric);
        if self.mode == Mode::Parametrised && !keeps {
            return Err(("contraction", "a parametrised body needs a contraction that keeps its volume".to_owned()));
        }
        let elastic = Elastic {
            volume,
            material: material.clone(),
            bulk: self.bulk,
            viscosity: self.viscosity,
            contraction: self.contraction.clone(),
            resistance: self.resistance,
        };
        builder.force(&format!("{name}_material"), elastic, frame);
        if self.mode == Mode::Incompressible {
            let contraction = if keeps { None } else { self.contraction.clone() };
            builder.constraint(&format!("{name}_volume"), Incompressible { volume, contraction }, frame);
        }
        Ok(())
    }
}

impl About for Soft {
    const KIND: &'static str = "soft";
    const SUMMARY: &'static str =
        "A soft, contractile or rigid body on plane supports with short-range contact fields.";
    const REFERENCES: &'static [&'static str] =
        &["Tatone, Di Egidio, Contento, Dynamics of a soft contractile body on a hard support"];

    fn sample() -> Self {
        let shape = Shape::try_from(Form::Disc(Disc { radius: 0.5, depth: 1.0 })).expect("a disc of positive radius");
        Self {
            material: Some(Material::NeoHookean(NeoHookean { modulus: 6e4 })),
            viscosity: 100.0,
            position: [0.0, 0.0, 0.7],
            repulsion: Some(Repulsion { coefficient: Strength::Traction { traction: 1e5, at: 0.002 }, power: 8 }),
            damping: Some(Resistance { coefficient: Strength::Traction { traction: 1e5, at: 0.002 }, power: 6 }),
            ..Self::new(shape, 1000.0)
        }
    }
}

impl Assembly for Soft {
    /// The markers that show the deformation of the body.
    type Made = AffineFrame;

    fn assemble(&self, name: &str, _start: f64, builder: &mut Builder) -> Result<AffineFrame, Vec<ModelError>> {
        let blame =
            |(key, message)| vec![ModelError { section: "assembly", name: name.to_owned(), key: Some(key), message }];
        if !(self.density > 0.0 && self.density.is_finite()) {
            let message = format!("a density must be positive and finite, not {}", self.density);
            return Err(blame(("density", message)));
        }
        let repulsion = self.repulsion(builder.given_gravity()).map_err(blame)?;
        let frame = self.body(name, builder).map_err(blame)?;
        self.material(name, frame, builder).map_err(blame)?;
        let given = Given {
            repulsion,
            damping: self.damping.clone(),
            friction: self.friction.clone(),
            coulomb: self.coulomb.clone(),
            adhesion: self.adhesion.clone(),
            strength: self.strength.clone(),
            ..Given::new(self.shape.clone())
        };
        let empty = Given { strength: given.strength.clone(), ..Given::new(self.shape.clone()) };
        for (i, support) in self.supports.iter().enumerate().filter(|_| given != empty) {
            let number = if i == 0 { String::new() } else { (i + 1).to_string() };
            let label = format!("{name}_contact{number}");
            let ground = builder.ground();
            let marker = builder.frame(&format!("{name}_support{number}"), ground, support.at, Orientation::default());
            let field = ContactField::from(Given { normal: support.normal, ..given.clone() });
            builder.force(&label, field, (marker, frame));
        }
        Ok(frame)
    }
}
