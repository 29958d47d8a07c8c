//! Where recursion wins: times of forward dynamics of serial chains by four routes, as a table and as a picture.
//!
//! Schiehlen (Computational dynamics, section 3) expects recursive formalisms to win beyond 8 to 10 bodies. Compared are, all in plain numbers and one
//! thread: his recursion (25)–(39) as written, the mass matrix with Cholesky's factor, the mass matrix inverted (24), and the articulated-body
//! algorithm. Arguments: the file of the picture (SVG), or nothing.
#![allow(clippy::unwrap_used)]

use dalembert_trees::samples::{chain, state};
use dalembert_trees::{Tree, aba, crba, recursion, rnea};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

const LINKS: [usize; 16] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96];
const NAMES: [&str; 4] = ["recursion (38–39)", "mass matrix + Cholesky", "mass matrix inverted", "articulated bodies"];
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#888888", "#009e73"];

/// The smallest time of one call over many short batches, in ns.
fn time(mut f: impl FnMut()) -> f64 {
    let mut batch = |n: usize| {
        let start = Instant::now();
        (0..n).for_each(|_| f());
        start.elapsed().as_secs_f64()
    };
    let mut n = 1;
    while batch(n) < 1e-4 {
        n *= 2;
    }
    (0..100).map(|_| batch(n) / n as f64).fold(f64::INFINITY, f64::min) * 1e9
}

/// Cholesky's factor and both solves, in place.
fn cholesky(n: usize, a: &mut [f64], x: &mut [f64]) {
    for i in 0..n {
        for j in 0..=i {
            let (row, other) = (&a[i * n..i * n + j], &a[j * n..j * n + j]);
            let sum = row.iter().zip(other).fold(a[i * n + j], |sum, (x, y)| sum - x * y);
            a[i * n + j] = if i == j { sum.sqrt() } else { sum / a[j * n + j] };
        }
        let sum = a[i * n..i * n + i].iter().zip(&*x).fold(x[i], |sum, (l, x)| sum - l * x);
        x[i] = sum / a[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] /= a[i * n + i];
        for j in 0..i {
            x[j] -= a[i * n + j] * x[i];
        }
    }
}

/// The inverse by Gauss and Jordan, in place; the matrix is positive definite.
fn invert(n: usize, a: &mut [f64]) {
    for k in 0..n {
        let pivot = 1.0 / a[k * n + k];
        a[k * n + k] = 1.0;
        a[k * n..(k + 1) * n].iter_mut().for_each(|x| *x *= pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = std::mem::replace(&mut a[i * n + k], 0.0);
            for j in 0..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
}

/// Times of the four routes for one tree; all must find the same accelerations.
fn routes(tree: &Tree) -> [f64; 4] {
    let n = tree.velocities();
    let (q, v, _, tau) = state(tree, 1);
    let (mut mass, mut out, still) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n]);
    let (mut rnea_work, mut crba_work) = (rnea::Work::new(tree), crba::Work::new(tree));
    let mut bias = vec![0.0; n];
    let mut matrices = |mass: &mut [f64], right: &mut [f64]| {
        rnea::rnea(tree, &q, &v, &still, &[], &mut rnea_work, &mut bias);
        crba::crba(tree, &q, &mut crba_work, mass);
        right.iter_mut().zip(tau.iter().zip(&bias)).for_each(|(x, (t, b))| *x = t - b);
    };
    let factored = time(|| {
        matrices(&mut mass, &mut out);
        cholesky(n, &mut mass, &mut out);
        black_box(&out);
    });
    let expected = out.clone();
    let mut right = vec![0.0; n];
    let inverted = time(|| {
        matrices(&mut mass, &mut right);
        crba::symmetrise(n, &mut mass);
        invert(n, &mut mass);
        for (out, row) in out.iter_mut().zip(mass.chunks_exact(n)) {
            *out = row.iter().zip(&right).fold(0.0, |sum, (a, b)| sum + a * b);
        }
        black_box(&out);
    });
    same(&expected, &out);
    let mut work = recursion::Work::new(tree);
    let recursive = time(|| {
        recursion::recursion(tree, &q, &v, &tau, &mut work, &mut out);
        black_box(&out);
    });
    same(&expected, &out);
    let mut work = aba::Work::new(tree);
    let articulated = time(|| {
        aba::aba(tree, &q, &v, &tau, &[], &mut work, &mut out);
        black_box(&out);
    });
    same(&expected, &out);
    [recursive, factored, inverted, articulated]
}

fn same(a: &[f64], b: &[f64]) {
    let scale = a.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-7 * scale), "the routes do not agree");
}

/// A picture with logarithmic axes.
fn picture(rows: &[(usize, [f64; 4])]) -> String {
    let (width, height, left, bottom) = (640.0, 400.0, 60.0, 350.0);
    let x = |n: f64| left + n.ln() / 96f64.ln() * 420.0;
    let y = |ns: f64| bottom - (ns / 50.0).ln() / 2e4f64.ln() * 320.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for n in [1, 2, 5, 10, 20, 50, 96] {
        let at = x(f64::from(n));
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} 30V{bottom}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"368\" text-anchor=\"middle\">{n}</text>"
        );
    }
    for (ns, label) in [(100.0, "0.1"), (1e3, "1"), (1e4, "10"), (1e5, "100"), (1e6, "1000")] {
        let at = y(ns);
        let _ = writeln!(
            out,
            "<path d=\"M{left} {at:.1}H480\" stroke=\"#ddd\"/><text x=\"54\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            at + 4.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"270\" y=\"390\" text-anchor=\"middle\">links of a chain</text><text x=\"60\" y=\"20\">µs for the accelerations of one state</text>"
    );
    for k in 0..4 {
        let points: Vec<String> = rows.iter().map(|(n, t)| format!("{:.1},{:.1}", x(*n as f64), y(t[k]))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            points.join(" "),
            COLOURS[k]
        );
        let last = rows.last().unwrap().1[k];
        let _ = writeln!(out, "<text x=\"486\" y=\"{:.1}\" fill=\"{}\">{}</text>", y(last) + 4.0, COLOURS[k], NAMES[k]);
    }
    out + "</svg>\n"
}

fn main() {
    let rows: Vec<(usize, [f64; 4])> = LINKS.iter().map(|&n| (n, routes(&chain(n)))).collect();
    println!("| links | {} |\n|---:|---:|---:|---:|---:|", NAMES.join(" | "));
    for (n, t) in &rows {
        println!("| {n} | {:.2} | {:.2} | {:.2} | {:.2} |", t[0] / 1e3, t[1] / 1e3, t[2] / 1e3, t[3] / 1e3);
    }
    for (k, name) in [(1, "Cholesky's factor"), (2, "the inverse")] {
        for (route, i) in [("the recursion as written", 0), ("articulated bodies", 3)] {
            let from = {
                let wins = |r: &usize| rows[*r..].iter().all(|(_, t)| t[i] < t[k]);
                (0..rows.len()).find(wins).map(|r| rows[r].0)
            };
            println!(
                "{route} wins against {name} from {} links on",
                from.map_or("more than 96".into(), |n| n.to_string())
            );
        }
    }
    if let Some(file) = std::env::args().nth(1) {
        std::fs::write(file, picture(&rows)).unwrap();
    }
}
