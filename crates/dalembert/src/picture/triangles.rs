//! Mesh files: Wavefront OBJ and STL, as text or binary, read as triangles for looking at.
//!
//! Only places and faces are read; normals, textures, groups and materials of OBJ are passed over, as are the normals of STL. Faces of more
//! corners become fans. Whatever bytes a file holds, reading ends within [`MOST_BYTES`] and [`MOST_TRIANGLES`] with triangles
//! or with an error that has a place.
//!
//! References: Wavefront, Advanced Visualizer manual, appendix B1 (OBJ); 3D Systems, StereoLithography interface specification (STL).

use std::collections::HashMap;
use std::fmt;

/// The largest mesh file, in bytes.
pub const MOST_BYTES: usize = 32 << 20;
/// The most triangles of a mesh.
pub const MOST_TRIANGLES: usize = 200_000;

/// Points in m, and triangles by the numbers of their points, counterclockwise from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// The points, m.
    pub points: Vec<[f64; 3]>,
    /// The triangles.
    pub triangles: Vec<[u32; 3]>,
}

/// Why a mesh file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshError {
    /// Line and column, from 1; none for binary files and files as a whole.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "line {line}, column {column}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for MeshError {}

fn whole(message: impl Into<String>) -> MeshError {
    MeshError { place: None, message: message.into() }
}

/// A word of a line with its column.
type Word<'a> = (usize, &'a str);

/// The words of a line with their columns in characters, from 1.
fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let start = line.as_ptr() as usize;
    line.split_ascii_whitespace().map(move |word| {
        let byte = word.as_ptr() as usize - start;
        (line[..byte].chars().count() + 1, word)
    })
}

/// Three finite numbers.
fn place<'a>(line: usize, mut words: impl Iterator<Item = Word<'a>>) -> Result<[f64; 3], MeshError> {
    let mut point = [0.0; 3];
    for coordinate in &mut point {
        let Some((column, word)) = words.next() else {
            return Err(MeshError { place: Some((line, 1)), message: "expected three coordinates".into() });
        };
        *coordinate = word.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| {
            let message = format!("expected a number, found `{}`", word.chars().take(40).collect::<String>());
            MeshError { place: Some((line, column)), message }
        })?;
    }
    Ok(point)
}

impl Triangles {
    /// Reads a mesh; the ending of the name says which format it has.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, MeshError> {
        if bytes.len() > MOST_BYTES {
            return Err(whole(format!("{} bytes are more than the {MOST_BYTES} a mesh may have", bytes.len())));
        }
        let text = || {
            std::str::from_utf8(bytes).map_err(|e| whole(format!("the text is not UTF-8 at byte {}", e.valid_up_to())))
        };
        let mesh = match name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "obj" => Self::obj(text()?)?,
            "stl" if binary_count(bytes).is_some() => Self::binary_stl(bytes)?,
            "stl" if bytes.trim_ascii_start().starts_with(b"solid") => Self::text_stl(text()?)?,
            "stl" => return Err(whole("this is no STL: it does not begin with `solid`, and its length does not fit")),
            _ => return Err(whole("meshes are read from .stl and .obj files")),
        };
        if mesh.triangles.is_empty() { Err(whole("there are no triangles in it")) } else { Ok(mesh) }
    }

    fn face(&mut self, corners: [u32; 3], place: Option<(usize, usize)>) -> Result<(), MeshError> {
        if self.triangles.len() >= MOST_TRIANGLES {
            let message = format!("there are more than the {MOST_TRIANGLES} triangles a mesh may have");
            return Err(MeshError { place, message });
        }
        self.triangles.push(corners);
        Ok(())
    }

    fn obj(text: &str) -> Result<Self, MeshError> {
        let mut mesh = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line_number = number + 1;
            let mut words = words(line);
            match words.next() {
                Some((_, "v")) => {
                    let point = place(line_number, words)?;
                    mesh.points.push(point);
                }
                Some((column, "f")) => {
                    let corners =
                        words.map(|word| mesh.corner(line_number, word)).collect::<Result<Vec<u32>, MeshError>>()?;
                    if corners.len() < 3 {
                        let message = "a face needs three corners or more".into();
                        return Err(MeshError { place: Some((line_number, column)), message });
                    }
                    for pair in corners[1..].windows(2) {
                        mesh.face([corners[0], pair[0], pair[1]], Some((line_number, column)))?;
                    }
                }
                _ => {}
            }
        }
        Ok(mesh)
    }

    /// The point of a corner `7`, `7/1`, `7//3` or `-1`: from 1, or backwards from the last.
    fn corner(&self, line: usize, (column, word): Word<'_>) -> Result<u32, MeshError> {
        let bad = |message: String| MeshError { place: Some((line, column)), message };
        let first = word.split('/').next().unwrap_or_default();
        let number: i64 = first.parse().map_err(|_| bad("expected the number of a point".into()))?;
        let count = self.points.len() as i64;
        let index = if number < 0 { count + number } else { number - 1 };
        if number == 0 || index < 0 || index >= count {
            return Err(bad(format!("there is no point {number} among the {count} so far")));
        }
        u32::try_from(index).map_err(|_| bad("there are too many points".into()))
    }

    fn text_stl(text: &str) -> Result<Self, MeshError> {
        let mut mesh = Self::default();
        let mut known = Known::default();
        let mut corners = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line_number = number + 1;
            let mut words = words(line);
            match words.next() {
                Some((_, "vertex")) => corners.push(known.number(place(line_number, words)?, &mut mesh.points)),
                Some((column, "endfacet")) => {
                    let here = Some((line_number, column));
                    let triangle = corners.as_slice().try_into().map_err(|_| {
                        let message = format!("a facet has three vertices, this one has {}", corners.len());
                        MeshError { place: here, message }
                    })?;
                    mesh.face(triangle, here)?;
                    corners.clear();
                }
                _ => {}
            }
        }
        if corners.is_empty() { Ok(mesh) } else { Err(whole("the file ends within a facet")) }
    }

    fn binary_stl(bytes: &[u8]) -> Result<Self, MeshError> {
        let mut mesh = Self::default();
        let mut known = Known::default();
        for (k, facet) in bytes[84..].chunks_exact(50).enumerate() {
            let number = |i: usize| {
                let at = 12 + 4 * i;
                f64::from(f32::from_le_bytes([facet[at], facet[at + 1], facet[at + 2], facet[at + 3]]))
            };
            let mut triangle = [0; 3];
            for (corner, out) in triangle.iter_mut().enumerate() {
                let point: [f64; 3] = std::array::from_fn(|i| number(3 * corner + i));
                if point.iter().any(|x| !x.is_finite()) {
                    return Err(whole(format!("triangle {k}, at byte {}: a coordinate is not finite", 84 + 50 * k)));
                }
                *out = known.number(point, &mut mesh.points);
            }
            mesh.face(triangle, None)?;
        }
        Ok(mesh)
    }
}

/// The number of triangles of a binary STL, if the length of the file fits it.
fn binary_count(bytes: &[u8]) -> Option<usize> {
    let count = u32::from_le_bytes(bytes.get(80..84)?.try_into().ok()?) as usize;
    (count.checked_mul(50)?.checked_add(84)? == bytes.len()).then_some(count)
}

/// Points that were seen before, to the bit.
#[derive(Default)]
struct Known(HashMap<[u64; 3], u32>);

impl Known {
    fn number(&mut self, point: [f64; 3], points: &mut Vec<[f64; 3]>) -> u32 {
        // Adding zero makes the two zeros one.
        *self.0.entry(point.map(|x| (x + 0.0).to_bits())).or_insert_with(|| {
            points.push(point);
            (points.len() - 1) as u32
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use dalembert_methods::vector::Vec3;

    const OBJ: &str = "# a pyramid\no it\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 0.5 3\nvn 0 0 1\n\
        f 4 3 2 1\nf 1/1 2/2 5/3\nf 2//1 3//1 -1\nf 3 4 5\nf 4 1 5\n";

    /// ⅙ Σ a·(b × c), by the theorem of Gauss.
    fn volume(mesh: &Triangles) -> f64 {
        let at = |i: u32| Vec3(mesh.points[i as usize]);
        mesh.triangles.iter().map(|&[a, b, c]| at(a).dot(at(b).cross(at(c))) / 6.0).sum()
    }

    fn text_of(mesh: &Triangles) -> String {
        let mut text = "solid it\n".to_owned();
        for triangle in &mesh.triangles {
            text += "facet normal 0 0 0\nouter loop\n";
            for &i in triangle {
                let [x, y, z] = mesh.points[i as usize];
                text += &format!("vertex {x} {y} {z}\n");
            }
            text += "endloop\nendfacet\n";
        }
        text + "endsolid it\n"
    }

    fn binary_of(mesh: &Triangles) -> Vec<u8> {
        // Some programs begin binary files with this word, too.
        let mut bytes = b"solid".to_vec();
        bytes.resize(80, b' ');
        bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
        for triangle in &mesh.triangles {
            bytes.extend([0; 12]);
            let numbers = triangle.iter().flat_map(|&i| mesh.points[i as usize]);
            bytes.extend(numbers.flat_map(|x| (x as f32).to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn all_three_ways_of_writing_give_the_same_solid() {
        let obj = Triangles::parse("a.OBJ", OBJ.as_bytes()).unwrap();
        assert_eq!((obj.points.len(), obj.triangles.len()), (5, 6));
        // A pyramid: base times a third of the height. Everything is exact in binary.
        assert_eq!(volume(&obj), 1.0);
        let text = Triangles::parse("a.stl", text_of(&obj).as_bytes()).unwrap();
        let binary = Triangles::parse("a.stl", &binary_of(&obj)).unwrap();
        assert_eq!((text.points.len(), text.triangles.len(), volume(&text)), (5, 6, 1.0));
        assert_eq!(text, binary);
    }

    #[test]
    fn faults_have_places() {
        let fault = |name: &str, text: &str| Triangles::parse(name, text.as_bytes()).unwrap_err().to_string();
        assert_eq!(fault("a.obj", "v 1 2 3\nv 1 x 3\n"), "line 2, column 5: expected a number, found `x`");
        assert_eq!(fault("a.obj", "v 1 2\n"), "line 1, column 1: expected three coordinates");
        assert_eq!(fault("a.obj", "v 1 2 inf\n"), "line 1, column 7: expected a number, found `inf`");
        assert_eq!(fault("a.obj", "v 1 2 3\nf 1 2 3\n"), "line 2, column 5: there is no point 2 among the 1 so far");
        assert_eq!(fault("a.obj", "v 1 2 3\nf 0 1 1\n"), "line 2, column 3: there is no point 0 among the 1 so far");
        assert_eq!(fault("a.obj", "v 1 2 3\nf 1 1\n"), "line 2, column 1: a face needs three corners or more");
        assert_eq!(fault("a.obj", "v 0 0 0\n"), "there are no triangles in it");
        assert_eq!(
            fault("a.stl", "solid\nvertex 0 0 0\nendfacet\n"),
            "line 3, column 1: a facet has three vertices, this one has 1"
        );
        assert_eq!(fault("a.stl", "solid\nvertex 0 0 0\n"), "the file ends within a facet");
        assert!(fault("a.stl", "facet").contains("no STL"));
        assert!(fault("a.dae", "<xml>").contains(".stl and .obj"));
        assert!(Triangles::parse("a.obj", b"v 1 2 \xff").unwrap_err().message.contains("byte 6"));
        let mut bytes = binary_of(&Triangles::parse("a.obj", OBJ.as_bytes()).unwrap());
        bytes[84 + 50 + 12..84 + 50 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(Triangles::parse("a.stl", &bytes).unwrap_err().message.contains("triangle 1, at byte 134"));
    }

    #[test]
    fn files_and_faces_are_limited() {
        let mut text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf".to_owned();
        text += &" 1 2 3".repeat(MOST_TRIANGLES / 2);
        assert!(Triangles::parse("a.obj", text.as_bytes()).unwrap_err().message.contains("more than the 200000"));
        assert!(Triangles::parse("a.obj", &vec![b' '; MOST_BYTES + 1]).unwrap_err().message.contains("bytes"));
        // Cut anywhere, a file is read or refused.
        let whole = OBJ.as_bytes();
        for end in 0..whole.len() {
            let _ = Triangles::parse("a.obj", &whole[..end]);
        }
    }
}
