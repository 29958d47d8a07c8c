//! Balls: bouncing, rolling, in a row, in a bowl.

use super::{completed, events, finish, last};

const G: f64 = 9.81;

/// From height h the first fall takes t₁ = √(2h/g), bounce k takes 2 t₁ εᵏ: they end at t₁ (1 + ε)/(1 − ε).
#[test]
fn a_bouncing_ball_comes_to_rest_at_its_accumulation_time() {
    for (restitution, height) in [(0.8f64, 1.0f64), (0.5, 2.0)] {
        let settings = [format!("parameters.restitution={restitution:?}"), format!("parameters.height={height:?}")];
        let outcome = completed("bouncing-ball", &settings.each_ref().map(String::as_str));
        let first = (2.0 * height / G).sqrt();
        let impacts = events(&outcome, "impact");
        for (k, (t, _)) in impacts.iter().take(8).enumerate() {
            let exact = first + 2.0 * first * (1..=k).map(|j| restitution.powi(j as i32)).sum::<f64>();
            assert!((t - exact).abs() < 1e-10, "impact {k}: {t} {exact}");
        }
        let [(rest, _)] = events(&outcome, "rest")[..] else { panic!("one end") };
        let exact = first * (1.0 + restitution) / (1.0 - restitution);
        assert!((rest - exact).abs() < 1e-9, "{rest} {exact}");
        // All of its energy went into impacts.
        assert!((last(&outcome, "energy.dissipated") - G * height).abs() < 1e-9);
        assert!(last(&outcome, "body.ball.position.z").abs() < 1e-10);
    }
}

/// Sliding friction takes the ball from v to 5v/7 and spins it up until it rolls, at 2v/(7μg).
#[test]
fn a_sliding_ball_rolls_after_two_sevenths() {
    for (mu, heading) in [(0.2, [5.0, 0.0]), (0.05, [1.2, -0.9])] {
        let settings = [
            format!("parameters.mu={mu:?}"),
            format!("body.ball.velocity=[{:?}, {:?}, 0]", heading[0], heading[1]),
            "run.until=3".to_owned(),
        ];
        let outcome = completed("bowling-ball", &settings.each_ref().map(String::as_str));
        let speed = f64::hypot(heading[0], heading[1]);
        let [(rolls, _)] = events(&outcome, "stick")[..] else { panic!("it rolls once") };
        assert!((rolls - 2.0 * speed / (7.0 * mu * G)).abs() < 1e-9, "{rolls}");
        for (axis, start) in ["x", "y"].into_iter().zip(heading) {
            let end = last(&outcome, &format!("body.ball.velocity.{axis}"));
            assert!((end - 5.0 / 7.0 * start).abs() < 1e-9, "{end} {start}");
        }
    }
}

/// With gaps the impacts come one after the other and hand the speed on; touching balls share one impact, in which Newton's
/// law with ε = 1 at every contact throws the first back and the others forward as one body of mass n − 1.
#[test]
fn a_cradle_hands_the_speed_on() {
    let outcome = completed("cradle", &[]);
    let impacts = events(&outcome, "impact");
    assert_eq!(impacts.len(), 4);
    for (k, (t, marker)) in impacts.iter().enumerate() {
        assert_eq!(*marker, format!("ball{}", k + 2));
        // The first ball has 0.5 m and a gap to go, each further one a gap.
        assert!((t - (0.5 + 1e-4 * (k + 1) as f64)).abs() < 1e-12, "{t}");
    }
    for ball in 1..=5 {
        let speed = last(&outcome, &format!("body.ball{ball}.velocity.x"));
        assert!((speed - if ball == 5 { 1.0 } else { 0.0 }).abs() < 1e-12, "{ball}: {speed}");
    }
    let outcome = completed("cradle", &["parameters.gap=0", "parameters.n=3"]);
    let impacts = events(&outcome, "impact");
    assert!(impacts.iter().all(|(t, _)| *t == impacts[0].0), "one instant: {impacts:?}");
    let momentum: f64 = (1..=3).map(|i| last(&outcome, &format!("body.ball{i}.velocity.x"))).sum();
    assert!((momentum - 1.0).abs() < 1e-12);
}

/// A ball in a bowl without friction swings like a pendulum of length R − r: small oscillations have the period 2π√((R − r)/g),
/// with the factor 1 + θ²/16 + 11 θ⁴/3072 for amplitude θ.
#[test]
fn a_ball_in_a_bowl_is_a_pendulum() {
    let angle: f64 = 0.1;
    let text = format!(
        "[world]\ngravity = [0, 0, -9.81]\n[body.ball]\nkind = 'particle'\nmass = 2\nposition = [{:?}, 0, {:?}]\n\
         [contact.bowl]\nkind = 'sphere'\nbetween = ['ground', 'ball']\nsize = 1\ninside = true\nradius = 0.2\n\
         [event.back]\nchannel = 'body.ball.velocity.x'\ncrossing = 'falling'\n[run]\nuntil = 2\ntolerance = 1e-11\n",
        0.8 * angle.sin(),
        -0.8 * angle.cos()
    );
    let outcome = finish("bowl", &text, &[]);
    let period =
        2.0 * std::f64::consts::PI * (0.8f64 / G).sqrt() * (1.0 + angle.powi(2) / 16.0 + 11.0 / 3072.0 * angle.powi(4));
    // It starts at rest, so that its velocity comes back to zero from above after one period.
    let [(back, _), ..] = events(&outcome, "falling")[..] else { panic!("it swings back") };
    // The next term of the series is 173 θ⁶/737280.
    assert!((back - period).abs() < 1e-9, "{back} {period}");
}
