//! What links look like: the visual shapes of URDF, SDF and MJCF. They are for the eye only and change no motion.
//!
//! Boxes, spheres, cylinders, capsules, ellipsoids and mesh files with their places and colours are taken over; meshes are named, not
//! opened. What has no counterpart is listed.

use crate::mjcf_defaults::Defaults;
use crate::mjcf_shapes::along;
use crate::xml::{
    Notes, child, elements, leave_out, number, numbers, parse_array, parse_numbers, places, required, start,
    text_numbers,
};
use crate::{Place, ReadError};
use dalembert_methods::vector::Vec3;
use dalembert_trees::Pose;
use roxmltree::Node;
use std::collections::HashMap;

/// The form of a visual shape, about its own origin. Lengths in m; lengths of cylinders and capsules are along z.
#[derive(Clone, Debug, PartialEq)]
pub enum VisualForm {
    /// A box with these edges.
    Box([f64; 3]),
    /// A sphere of this radius.
    Sphere(f64),
    /// A cylinder of this radius and length.
    Cylinder(f64, f64),
    /// A capsule of this radius; the length is that between the centres of its round ends.
    Capsule(f64, f64),
    /// An ellipsoid with these half axes.
    Ellipsoid([f64; 3]),
    /// A mesh file as the robot file names it, and the scale along x, y, z.
    Mesh(String, [f64; 3]),
}

/// A shape on a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Visual {
    /// The link it is fixed to; the world if none.
    pub link: Option<String>,
    /// Its place in the frame of the link.
    pub pose: Pose,
    /// Its form.
    pub form: VisualForm,
    /// Red, green, blue between 0 and 1.
    pub colour: Option<[f64; 3]>,
    /// Where it stands in the file.
    pub place: Place,
}

/// Place, form and colour of a shape.
type Shape = (Pose, VisualForm, Option<[f64; 3]>);

/// The shapes found so far, by the bytes at which they stand.
#[derive(Default)]
pub(crate) struct Visuals(Vec<(usize, Visual)>);

impl Visuals {
    /// Adds a shape; sizes that are no sizes are listed instead.
    pub fn add(&mut self, node: &Node<'_, '_>, link: Option<&str>, (pose, form, colour): Shape, left_out: &mut Notes) {
        let sizes: &[f64] = match &form {
            VisualForm::Box(sizes) | VisualForm::Ellipsoid(sizes) => sizes,
            VisualForm::Sphere(radius) => &[*radius],
            VisualForm::Cylinder(radius, length) => &[*radius, *length],
            VisualForm::Capsule(radius, length) => &[*radius, *length],
            VisualForm::Mesh(_, scale) => &scale.map(f64::abs),
        };
        if sizes.iter().any(|size| *size <= 0.0) {
            return leave_out(node, "a shape needs positive sizes", left_out);
        }
        let place = Place { line: 0, column: 0 };
        self.0.push((start(node), Visual { link: link.map(Into::into), pose, form, colour, place }));
    }

    /// The shapes in the order of the file, each with its line and column.
    pub fn placed(mut self, text: &str) -> Vec<Visual> {
        self.0.sort_by_key(|(at, _)| *at);
        let places = places(text, self.0.iter().map(|(at, _)| *at));
        self.0.into_iter().zip(places).map(|((_, visual), place)| Visual { place, ..visual }).collect()
    }
}

/// Colours of the named materials of a URDF file.
pub(crate) fn urdf_materials<'a>(root: &Node<'a, '_>) -> Result<HashMap<&'a str, [f64; 3]>, ReadError> {
    let mut found = HashMap::new();
    for node in root.descendants().filter(|n| n.has_tag_name("material")) {
        if let (Some(name), Some(colour)) = (node.attribute("name"), urdf_colour(&node)?) {
            found.insert(name, colour);
        }
    }
    Ok(found)
}

fn urdf_colour(material: &Node<'_, '_>) -> Result<Option<[f64; 3]>, ReadError> {
    let Some(colour) = child(material, "color") else { return Ok(None) };
    Ok(numbers::<4>(&colour, "rgba")?.map(|[r, g, b, _]| [r, g, b]))
}

/// The shape of a `<visual>` of URDF.
pub(crate) fn urdf(
    node: &Node<'_, '_>,
    pose: Pose,
    materials: &HashMap<&str, [f64; 3]>,
    left_out: &mut Notes,
) -> Result<Option<Shape>, ReadError> {
    let mut colour = None;
    if let Some(material) = child(node, "material") {
        colour = urdf_colour(&material)?;
        colour = colour.or_else(|| materials.get(material.attribute("name")?).copied());
        if child(&material, "texture").is_some() {
            leave_out(&material, "textures are not taken over", left_out);
        }
    }
    let shape = child(node, "geometry").and_then(|geometry| elements(&geometry).next());
    let Some(shape) = shape else {
        leave_out(node, "there is no shape in its <geometry>", left_out);
        return Ok(None);
    };
    let length = |name: &str| -> Result<f64, ReadError> {
        required(&shape, name)?;
        Ok(number(&shape, name)?.unwrap_or_default())
    };
    let form = match shape.tag_name().name() {
        "box" => {
            required(&shape, "size")?;
            VisualForm::Box(numbers::<3>(&shape, "size")?.unwrap_or_default())
        }
        "sphere" => VisualForm::Sphere(length("radius")?),
        "cylinder" => VisualForm::Cylinder(length("radius")?, length("length")?),
        "capsule" => VisualForm::Capsule(length("radius")?, length("length")?),
        "mesh" => {
            let scale = numbers::<3>(&shape, "scale")?.unwrap_or([1.0; 3]);
            VisualForm::Mesh(required(&shape, "filename")?.into(), scale)
        }
        _ => {
            leave_out(&shape, "is not a shape that can be drawn", left_out);
            return Ok(None);
        }
    };
    Ok(Some((pose, form, colour)))
}

/// The shape of a `<visual>` of SDF.
pub(crate) fn sdf(node: &Node<'_, '_>, pose: Pose, left_out: &mut Notes) -> Result<Option<Shape>, ReadError> {
    let mut colour = None;
    if let Some(diffuse) = child(node, "material").and_then(|material| child(&material, "diffuse")) {
        let parts = parse_numbers(diffuse.text().unwrap_or_default());
        let parts = parts.map_err(|e| ReadError::at(&diffuse, format!("<diffuse>: {e}")))?;
        if let [r, g, b, ..] = parts[..] {
            colour = Some([r, g, b]);
        }
    }
    let shape = child(node, "geometry").and_then(|geometry| elements(&geometry).next());
    let Some(shape) = shape else {
        leave_out(node, "there is no shape in its <geometry>", left_out);
        return Ok(None);
    };
    let inner = |name: &str| {
        child(&shape, name)
            .ok_or_else(|| ReadError::at(&shape, format!("<{}> needs a <{name}>", shape.tag_name().name())))
    };
    let length = |name: &str| text_numbers::<1>(&inner(name)?).map(|[x]| x);
    let form = match shape.tag_name().name() {
        "box" => VisualForm::Box(text_numbers::<3>(&inner("size")?)?),
        "sphere" => VisualForm::Sphere(length("radius")?),
        "cylinder" => VisualForm::Cylinder(length("radius")?, length("length")?),
        "capsule" => VisualForm::Capsule(length("radius")?, length("length")?),
        "ellipsoid" => VisualForm::Ellipsoid(text_numbers::<3>(&inner("radii")?)?),
        "mesh" => {
            let scale = child(&shape, "scale").map(|s| text_numbers::<3>(&s)).transpose()?.unwrap_or([1.0; 3]);
            VisualForm::Mesh(inner("uri")?.text().unwrap_or_default().trim().into(), scale)
        }
        _ => {
            leave_out(&shape, "is not a shape that can be drawn", left_out);
            return Ok(None);
        }
    };
    Ok(Some((pose, form, colour)))
}

/// Meshes and colours of the `<asset>` of MJCF, by name.
#[derive(Default)]
pub(crate) struct Assets<'a> {
    meshes: HashMap<String, (String, [f64; 3])>,
    colours: HashMap<&'a str, [f64; 3]>,
}

impl<'a> Assets<'a> {
    /// Reads an `<asset>`; `folder` is where meshes are.
    pub fn read(
        &mut self,
        node: &Node<'a, '_>,
        folder: &str,
        defaults: &Defaults<'a>,
        left_out: &mut Notes,
    ) -> Result<(), ReadError> {
        for asset in elements(node) {
            match (asset.tag_name().name(), asset.attribute("file")) {
                ("mesh", Some(file)) => {
                    let odd = ["refpos", "refquat"].iter().any(|name| asset.has_attribute(*name));
                    if odd {
                        leave_out(&asset, "meshes with a reference frame are not read", left_out);
                        continue;
                    }
                    let own = file.rsplit(['/', '\\']).next().unwrap_or(file);
                    let stem = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
                    let name = asset.attribute("name").unwrap_or(stem);
                    let scale = defaults.numbers::<3>(&asset, "main", "scale")?.unwrap_or([1.0; 3]);
                    let path = if folder.is_empty() { file.into() } else { format!("{folder}/{file}") };
                    self.meshes.insert(name.into(), (path, scale));
                }
                ("material", _) => {
                    let colour = defaults.numbers::<4>(&asset, "main", "rgba")?;
                    if let (Some(name), Some([r, g, b, _])) = (asset.attribute("name"), colour) {
                        self.colours.insert(name, [r, g, b]);
                    }
                }
                _ => leave_out(&asset, "is not read", left_out),
            }
        }
        Ok(())
    }

    /// The shape of a `<geom>`, in the frame of its body.
    pub fn geom(
        &self,
        node: &Node<'a, '_>,
        class: &str,
        defaults: &Defaults<'a>,
        (frame, pose): (&Pose, Pose),
        left_out: &mut Notes,
    ) -> Result<Option<Shape>, ReadError> {
        let get = |name: &str| defaults.get(node, class, name);
        if get("contype") != Some("0") || get("conaffinity") != Some("0") {
            leave_out(node, "contacts are not read", left_out);
        }
        let group = defaults.number(node, class, "group")?.unwrap_or(0.0);
        if group > 2.0 {
            leave_out(node, "shapes of groups above 2 are hidden", left_out);
            return Ok(None);
        }
        let colour = defaults.numbers::<4>(node, class, "rgba")?.map(|[r, g, b, _]| [r, g, b]);
        let colour = colour.or_else(|| self.colours.get(get("material")?).copied());
        let kind = get("type").unwrap_or(if get("mesh").is_some() { "mesh" } else { "sphere" });
        let size = parse_numbers(get("size").unwrap_or_default());
        let size = size.map_err(|e| ReadError::at_attribute(node, "size", format!("`size`: {e}")))?;
        let (mut pose, mut half) = (pose, None);
        if let Some(ends) = get("fromto") {
            let ends = parse_array::<6>(ends).map_err(|e| ReadError::at_attribute(node, "fromto", e))?;
            let (from, to) = (Vec3([ends[0], ends[1], ends[2]]), Vec3([ends[3], ends[4], ends[5]]));
            pose = Pose { rotation: along(from - to), position: (from + to) * 0.5 };
            half = Some(0.5 * (to - from).norm());
        }
        let at = |i: usize| {
            let given = half.filter(|_| i == 1).or(size.get(i).copied());
            given.ok_or_else(|| ReadError::at(node, format!("a {kind} needs {} numbers in `size`", i + 1)))
        };
        let form = match kind {
            "sphere" => VisualForm::Sphere(at(0)?),
            "box" => VisualForm::Box([2.0 * at(0)?, 2.0 * at(1)?, 2.0 * at(2)?]),
            "ellipsoid" => VisualForm::Ellipsoid([at(0)?, at(1)?, at(2)?]),
            "cylinder" => VisualForm::Cylinder(at(0)?, 2.0 * at(1)?),
            "capsule" => VisualForm::Capsule(at(0)?, 2.0 * at(1)?),
            "mesh" => match self.meshes.get(get("mesh").unwrap_or_default()) {
                Some((file, scale)) => VisualForm::Mesh(file.clone(), *scale),
                None => {
                    leave_out(node, "its mesh is not among those that are read", left_out);
                    return Ok(None);
                }
            },
            _ => {
                leave_out(node, "planes and height fields are not drawn", left_out);
                return Ok(None);
            }
        };
        Ok(Some((frame.then(&pose), form, colour)))
    }
}
