//! Hock and Schittkowski, numbers 1 to 40.

use super::{List, NO, Real, k, rosenbrock, sum};
use std::f64::consts::PI;

fn hs1<R: Real>(x: &[R], _: &mut [R]) -> R {
    rosenbrock(x)
}
fn hs3<R: Real>(x: &[R], _: &mut [R]) -> R {
    x[1] + (x[1] - x[0]).square() * 1e-5
}
fn hs4<R: Real>(x: &[R], _: &mut [R]) -> R {
    (x[0] + 1.0).powi(3) / 3.0 + x[1]
}
fn hs5<R: Real>(x: &[R], _: &mut [R]) -> R {
    (x[0] + x[1]).sin() + (x[0] - x[1]).square() - x[0] * 1.5 + x[1] * 2.5 + 1.0
}
fn hs6<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = (x[1] - x[0].square()) * 10.0;
    (x[0] - 1.0).square()
}
fn hs7<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = (x[0].square() + 1.0).square() + x[1].square() - 4.0;
    (x[0].square() + 1.0).ln() - x[1]
}
fn hs8<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0].square() + x[1].square() - 25.0;
    c[1] = x[0] * x[1] - 9.0;
    k(-1.0)
}
fn hs9<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * 4.0 - x[1] * 3.0;
    (x[0] * (PI / 12.0)).sin() * (x[1] * (PI / 16.0)).cos()
}
fn hs10<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * x[1] * 2.0 - x[0].square() * 3.0 - x[1].square() + 1.0;
    x[0] - x[1]
}
fn hs11<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[1] - x[0].square();
    (x[0] - 5.0).square() + x[1].square() - 25.0
}
fn hs12<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(25.0) - x[0].square() * 4.0 - x[1].square();
    x[0].square() * 0.5 + x[1].square() - x[0] * x[1] - x[0] * 7.0 - x[1] * 7.0
}
fn hs13<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = (k::<R>(1.0) - x[0]).powi(3) - x[1];
    (x[0] - 2.0).square() + x[1].square()
}
fn hs14<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(1.0) - x[0].square() * 0.25 - x[1].square();
    c[1] = x[0] - x[1] * 2.0 + 1.0;
    (x[0] - 2.0).square() + (x[1] - 1.0).square()
}
fn hs15<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * x[1] - 1.0;
    c[1] = x[1].square() + x[0];
    rosenbrock(x)
}
fn hs16<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[1].square() + x[0];
    c[1] = x[0].square() + x[1];
    rosenbrock(x)
}
fn hs17<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[1].square() - x[0];
    c[1] = x[0].square() - x[1];
    rosenbrock(x)
}
fn hs18<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * x[1] - 25.0;
    c[1] = x[0].square() + x[1].square() - 25.0;
    x[0].square() * 0.01 + x[1].square()
}
fn hs19<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = (x[0] - 5.0).square() + (x[1] - 5.0).square() - 100.0;
    c[1] = k::<R>(82.81) - (x[0] - 6.0).square() - (x[1] - 5.0).square();
    (x[0] - 10.0).powi(3) + (x[1] - 20.0).powi(3)
}
fn hs20<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[1].square() + x[0];
    c[1] = x[0].square() + x[1];
    c[2] = x[0].square() + x[1].square() - 1.0;
    rosenbrock(x)
}
fn hs21<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * 10.0 - x[1] - 10.0;
    x[0].square() * 0.01 + x[1].square() - 100.0
}
fn hs22<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(2.0) - x[0] - x[1];
    c[1] = x[1] - x[0].square();
    (x[0] - 2.0).square() + (x[1] - 1.0).square()
}
fn hs23<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1] - 1.0;
    c[1] = x[0].square() + x[1].square() - 1.0;
    c[2] = x[0].square() * 9.0 + x[1].square() - 9.0;
    c[3] = x[0].square() - x[1];
    c[4] = x[1].square() - x[0];
    x[0].square() + x[1].square()
}
fn hs24<R: Real>(x: &[R], c: &mut [R]) -> R {
    let root = 3.0f64.sqrt();
    c[0] = x[0] / root - x[1];
    c[1] = x[0] + x[1] * root;
    c[2] = k::<R>(6.0) - x[1] * root - x[0];
    ((x[0] - 3.0).square() - 9.0) * x[1].powi(3) / (27.0 * root)
}
fn hs25<R: Real>(x: &[R], _: &mut [R]) -> R {
    sum((1..100).map(|i| {
        let share = 0.01 * f64::from(i);
        let u = 25.0 + (-50.0 * share.ln()).powf(2.0 / 3.0);
        ((-((k::<R>(u) - x[1]).powf(x[2]) / x[0])).exp() - share).square()
    }))
}
fn hs26<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * (x[1].square() + 1.0) + x[2].powi(4) - 3.0;
    (x[0] - x[1]).square() + (x[1] - x[2]).powi(4)
}
fn hs27<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[2].square() + 1.0;
    rosenbrock(x)
}
fn hs28<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1] * 2.0 + x[2] * 3.0 - 1.0;
    (x[0] + x[1]).square() + (x[1] + x[2]).square()
}
fn hs29<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(48.0) - x[0].square() - x[1].square() * 2.0 - x[2].square() * 4.0;
    -x[0] * x[1] * x[2]
}
fn hs30<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0].square() + x[1].square() - 1.0;
    x[0].square() + x[1].square() + x[2].square()
}
fn hs31<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * x[1] - 1.0;
    x[0].square() * 9.0 + x[1].square() + x[2].square() * 9.0
}
fn hs32<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[1] * 6.0 + x[2] * 4.0 - x[0].powi(3) - 3.0;
    c[1] = k::<R>(1.0) - x[0] - x[1] - x[2];
    (x[0] + x[1] * 3.0 + x[2]).square() + (x[0] - x[1]).square() * 4.0
}
fn hs33<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[2].square() - x[0].square() - x[1].square();
    c[1] = x[0].square() + x[1].square() + x[2].square() - 4.0;
    (x[0] - 1.0) * (x[0] - 2.0) * (x[0] - 3.0) + x[2]
}
fn hs34<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[1] - x[0].exp();
    c[1] = x[2] - x[1].exp();
    -x[0]
}
fn hs35<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(3.0) - x[0] - x[1] - x[2] * 2.0;
    k::<R>(9.0) - x[0] * 8.0 - x[1] * 6.0 - x[2] * 4.0
        + x[0].square() * 2.0
        + x[1].square() * 2.0
        + x[2].square()
        + x[0] * x[1] * 2.0
        + x[0] * x[2] * 2.0
}
fn hs36<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(72.0) - x[0] - x[1] * 2.0 - x[2] * 2.0;
    -x[0] * x[1] * x[2]
}
fn hs37<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[1] = x[0] + x[1] * 2.0 + x[2] * 2.0;
    hs36(x, c)
}
fn hs38<R: Real>(x: &[R], _: &mut [R]) -> R {
    rosenbrock(x)
        + (x[3] - x[2].square()).square() * 90.0
        + (x[2] - 1.0).square()
        + ((x[1] - 1.0).square() + (x[3] - 1.0).square()) * 10.1
        + (x[1] - 1.0) * (x[3] - 1.0) * 19.8
}
fn hs39<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[1] - x[0].powi(3) - x[2].square();
    c[1] = x[0].square() - x[1] - x[3].square();
    -x[0]
}
fn hs40<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0].powi(3) + x[1].square() - 1.0;
    c[1] = x[0].square() * x[3] - x[2];
    c[2] = x[3].square() - x[1];
    -x[0] * x[1] * x[2] * x[3]
}

pub(super) fn add(list: &mut List) {
    let positive = |n: usize| vec![(0.0, NO); n];
    list.add(1, hs1, &[-2.0, 1.0], vec![(-NO, NO), (-1.5, NO)], 0, 0, 0.0);
    let a = (598.0f64 / 1200.0).sqrt();
    let x = 2.0 * a * ((1.0 / (400.0 * a.powi(3))).acos() / 3.0).cos();
    list.add(2, hs1, &[-2.0, 1.0], vec![(-NO, NO), (1.5, NO)], 0, 0, rosenbrock(&[x, 1.5]));
    list.add(3, hs3, &[10.0, 1.0], vec![(-NO, NO), (0.0, NO)], 0, 0, 0.0);
    list.add(4, hs4, &[1.125, 0.125], vec![(1.0, NO), (0.0, NO)], 0, 0, 8.0 / 3.0);
    list.add(5, hs5, &[0.0, 0.0], vec![(-1.5, 4.0), (-3.0, 3.0)], 0, 0, -(0.75f64.sqrt() + PI / 3.0));
    list.add(6, hs6, &[-1.2, 1.0], vec![], 0, 1, 0.0);
    list.add(7, hs7, &[2.0, 2.0], vec![], 0, 1, -(3.0f64.sqrt()));
    list.add(8, hs8, &[2.0, 1.0], vec![], 0, 2, -1.0);
    list.add(9, hs9, &[0.0, 0.0], vec![], 0, 1, -0.5);
    list.add(10, hs10, &[-10.0, 10.0], vec![], 1, 0, -1.0);
    let a = 7.5 * 6.0f64.sqrt();
    let a = ((a * a + 1.0).sqrt() + a).cbrt();
    let x = (a - 1.0 / a) / 6.0f64.sqrt();
    list.add(11, hs11, &[4.9, 0.1], vec![], 1, 0, (x - 5.0).powi(2) + x.powi(4) - 25.0);
    list.add(12, hs12, &[0.0, 0.0], vec![], 1, 0, -30.0);
    list.add(13, hs13, &[0.0, 0.0], positive(2), 1, 0, 1.0);
    list.add(14, hs14, &[2.0, 2.0], vec![], 1, 1, 9.0 - 23.0 * 7.0f64.sqrt() / 8.0);
    list.add(15, hs15, &[-2.0, 1.0], vec![(-NO, 0.5), (-NO, NO)], 2, 0, 306.5);
    list.add(16, hs16, &[-2.0, 1.0], vec![(-0.5, 0.5), (-NO, 1.0)], 2, 0, 0.25);
    list.add(17, hs17, &[-2.0, 1.0], vec![(-0.5, 0.5), (-NO, 1.0)], 2, 0, 1.0);
    list.add(18, hs18, &[2.0, 2.0], vec![(2.0, 50.0), (0.0, 50.0)], 2, 0, 5.0);
    let root = 17.280975f64.sqrt();
    let best = 4.095f64.powi(3) - (15.0 + root).powi(3);
    list.add(19, hs19, &[20.1, 5.84], vec![(13.0, 100.0), (0.0, 100.0)], 2, 0, best);
    list.add(20, hs20, &[-2.0, 1.0], vec![(-0.5, 0.5), (-NO, NO)], 3, 0, 81.5 - 25.0 * 3.0f64.sqrt());
    list.add(21, hs21, &[-1.0, -1.0], vec![(2.0, 50.0), (-50.0, 50.0)], 1, 0, -99.96);
    list.add(22, hs22, &[2.0, 2.0], vec![], 2, 0, 1.0);
    list.add(23, hs23, &[3.0, 1.0], vec![(-50.0, 50.0); 2], 5, 0, 2.0);
    list.add(24, hs24, &[1.0, 0.5], positive(2), 3, 0, -1.0);
    list.add(25, hs25, &[100.0, 12.5, 3.0], vec![(0.1, 100.0), (0.0, 25.6), (0.0, 5.0)], 0, 0, 0.0);
    list.add(26, hs26, &[-2.6, 2.0, 2.0], vec![], 0, 1, 0.0);
    // The book's factor is 0.01 of this objective, with optimum 0.04.
    list.add(27, hs27, &[2.0, 2.0, 2.0], vec![], 0, 1, 4.0);
    list.add(28, hs28, &[-4.0, 1.0, 1.0], vec![], 0, 1, 0.0);
    list.add(29, hs29, &[1.0, 1.0, 1.0], vec![], 1, 0, -16.0 * 2.0f64.sqrt());
    list.add(30, hs30, &[1.0, 1.0, 1.0], vec![(1.0, 10.0), (-10.0, 10.0), (-10.0, 10.0)], 1, 0, 1.0);
    list.add(31, hs31, &[1.0, 1.0, 1.0], vec![(-10.0, 10.0), (1.0, 10.0), (-10.0, 1.0)], 1, 0, 6.0);
    list.add(32, hs32, &[0.1, 0.7, 0.2], positive(3), 1, 1, 1.0);
    list.add(33, hs33, &[0.0, 0.0, 3.0], vec![(0.0, NO), (0.0, NO), (0.0, 5.0)], 2, 0, 2.0f64.sqrt() - 6.0);
    let best = -(10.0f64.ln().ln());
    list.add(34, hs34, &[0.0, 1.05, 2.9], vec![(0.0, 100.0), (0.0, 100.0), (0.0, 10.0)], 2, 0, best);
    list.add(35, hs35, &[0.5, 0.5, 0.5], positive(3), 1, 0, 1.0 / 9.0);
    list.add(36, hs36, &[10.0; 3], vec![(0.0, 20.0), (0.0, 11.0), (0.0, 42.0)], 1, 0, -3300.0);
    list.add(37, hs37, &[10.0; 3], vec![(0.0, 42.0); 3], 2, 0, -3456.0);
    list.add(38, hs38, &[-3.0, -1.0, -3.0, -1.0], vec![(-10.0, 10.0); 4], 0, 0, 0.0);
    list.add(39, hs39, &[2.0; 4], vec![], 0, 2, -1.0);
    list.add(40, hs40, &[0.8; 4], vec![], 0, 3, -0.25);
}
