//! Derivatives of whole programs against differences, interpreted and compiled.

use crate::rest_to_rest;
use crate::toys::{Pendulum, Sleigh};
use dalembert_control::{Form, Method, Options, Problem, transcribe};
use dalembert_methods::System;
use dalembert_optimise::Nlp;

/// Jacobian and Hessian of the Lagrangian against central differences of values and gradients.
fn check<Y: System>(problem: &Problem<'_, Y>, options: &Options) {
    let (mut program, _) = transcribe(problem, options).unwrap();
    let (n, m) = (program.size().variables, program.size().constraints);
    let x: Vec<f64> = (0..n).map(|i| 0.4 + 0.3 * (1.3 * i as f64).sin()).collect();
    let multipliers: Vec<f64> = (0..m).map(|i| (0.7 * i as f64).cos()).collect();
    let (rows, bends) = (program.jacobian_pattern(), program.hessian_pattern());
    let mut lagrangian = |x: &[f64]| {
        let mut slope = vec![0.0; n];
        program.gradient(x, &mut slope);
        let mut values = vec![0.0; rows.len()];
        program.jacobian(x, &mut values);
        for (&(row, column), value) in rows.iter().zip(&values) {
            slope[column] += multipliers[row] * value;
        }
        let mut c = vec![0.0; m];
        program.constraints(x, &mut c);
        (program.objective(x) + c.iter().zip(&multipliers).map(|(c, y)| c * y).sum::<f64>(), slope)
    };
    let (_, exact) = lagrangian(&x);
    let h = 1e-5;
    let mut columns = Vec::new();
    let scale = exact.iter().fold(1.0f64, |m, g| m.max(g.abs()));
    for i in 0..n {
        let mut moved = [x.clone(), x.clone()];
        (moved[0][i], moved[1][i]) = (x[i] - h, x[i] + h);
        let [low, high] = moved.map(|x| lagrangian(&x));
        let slope = (high.0 - low.0) / (2.0 * h);
        // Central differences: h² of third derivatives and ε/h of the value, both about 1e-9 of the scale, times a factor for the sums.
        assert!((slope - exact[i]).abs() < 1e-6 * scale, "{i}: {slope} {}", exact[i]);
        columns.push(high.1.iter().zip(&low.1).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>());
    }
    let mut values = vec![0.0; bends.len()];
    program.hessian(&x, 1.0, &multipliers, &mut values);
    let mut dense = vec![vec![0.0; n]; n];
    for (&(a, b), value) in bends.iter().zip(&values) {
        dense[a][b] += value;
        if a != b {
            dense[b][a] += value;
        }
    }
    let scale = values.iter().fold(1.0f64, |m, g| m.max(g.abs()));
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        assert!((dense[i][j] - columns[j][i]).abs() < 1e-6 * scale, "{i} {j}: {} {}", dense[i][j], columns[j][i]);
    }
}

#[test]
fn derivatives_are_those_of_the_values() {
    let interpreted = Options { evaluations: 1, ..Options::default() };
    let compiled = Options { evaluations: 1_000_000, ..Options::default() };
    for method in
        [Method::Dmocc, Method::Midpoint, Method::TRAPEZOIDAL, Method::HERMITE_SIMPSON, Method::Shooting { steps: 1 }]
    {
        for options in [&interpreted, &compiled] {
            let y = Pendulum { redundant: true };
            let mut problem = rest_to_rest(&y, &[0.0, -1.0], &[1.0, 0.0], method, 3, 1.0);
            problem.phases[0].free(0.1, 3.0);
            check(&problem, options);
        }
        check(&rest_to_rest(&Sleigh, &[0.0; 3], &[1.0, 0.0, 0.0], method, 2, 1.0), &interpreted);
    }
    // Without multipliers: derivatives go through the solution for the dependent velocities.
    let y = Pendulum { redundant: true };
    let mut problem = rest_to_rest(&y, &[0.0, -1.0], &[1.0, 0.0], Method::Dmocc, 3, 1.0);
    problem.phases[0].free(0.1, 3.0);
    problem.phases[0].form = Form::NullSpace;
    check(&problem, &interpreted);
    check(&problem, &compiled);
}
