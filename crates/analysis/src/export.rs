//! Matrices for other programs: CSV ([`Matrix::to_csv`]), NumPy and MATLAB.
//!
//! References: NumPy enhancement proposal 1 (the npy format, version 1.0); MATLAB: MAT-File Format, level 4.

use crate::dense::Matrix;

/// A matrix as an `.npy` file, in rows.
pub fn npy(matrix: &Matrix) -> Vec<u8> {
    array(&format!("({}, {})", matrix.rows(), matrix.cols()), matrix.values().iter())
}

/// Matrices of the same size as one `.npy` file: an array over matrices, rows and columns. Nothing if their sizes differ.
pub fn npy_stack(matrices: &[&Matrix]) -> Option<Vec<u8>> {
    let (rows, cols) = matrices.first().map(|m| (m.rows(), m.cols()))?;
    let alike = matrices.iter().all(|m| (m.rows(), m.cols()) == (rows, cols));
    let shape = format!("({}, {rows}, {cols})", matrices.len());
    alike.then(|| array(&shape, matrices.iter().flat_map(|m| m.values())))
}

/// An `.npy` file of numbers with a shape.
fn array<'a>(shape: &str, values: impl Iterator<Item = &'a f64>) -> Vec<u8> {
    let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic string, version, length and header fill a multiple of 64 bytes and end with a new line.
    let length = (10 + head.len() + 1).next_multiple_of(64) - 10;
    head.push_str(&" ".repeat(length - head.len() - 1));
    head.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((length as u16).to_le_bytes());
    out.extend(head.bytes());
    out.extend(values.flat_map(|x| x.to_le_bytes()));
    out
}

/// Named matrices as a `.mat` file (level 4), which MATLAB, Octave and SciPy read.
pub fn mat(matrices: &[(&str, &Matrix)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, matrix) in matrices {
        // Little-endian doubles in columns, not complex.
        for word in [0, matrix.rows() as i32, matrix.cols() as i32, 0, name.len() as i32 + 1] {
            out.extend(word.to_le_bytes());
        }
        out.extend(name.bytes().chain([0]));
        out.extend(matrix.transpose().values().iter().flat_map(|x| x.to_le_bytes()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_layout_of_their_formats() {
        let m = Matrix::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let file = npy(&m);
        assert_eq!((&file[..8], file.len()), (&b"\x93NUMPY\x01\x00"[..], 128 + 48));
        assert_eq!(f64::from_le_bytes(file[136..144].try_into().expect("eight bytes")), 2.0);
        let stack = npy_stack(&[&m, &m]).expect("both have the same size");
        assert_eq!(stack.len(), 128 + 2 * 48);
        assert!(npy_stack(&[&m, &m.transpose()]).is_none());
        let file = mat(&[("K", &m)]);
        assert_eq!(file.len(), 20 + 2 + 48);
        // The second number is the one below the first.
        assert_eq!(f64::from_le_bytes(file[30..38].try_into().expect("eight bytes")), 4.0);
    }
}
