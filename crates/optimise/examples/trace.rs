//! Shows the iterations on one program of the collection.
use dalembert_optimise::interior::{self, Barrier, Options};
use dalembert_optimise::problems::hock_schittkowski;
use dalembert_optimise::report::Control;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number: usize = args[1].parse().unwrap();
    let limit: usize = args[2].parse().unwrap();
    let mut o = Options { iterations: limit, ..Default::default() };
    if args.len() > 3 { o.barrier = Barrier::Adaptive; }
    for mut problem in hock_schittkowski() {
        if problem.number == number {
            let r = interior::solve(&mut problem.program, &o, &mut |p| {
                println!("{:4} {} f {:.8e} viol {:.2e} stat {:.2e} mu {:.1e} reg {:.1e} step {:.2e}", p.iteration, if p.restoring {"r"} else {" "}, p.objective, p.violation, p.stationarity, p.barrier, p.regularisation, p.step);
                Control::Continue
            });
            println!("{r}\n{:?}", r.point);
        }
    }
}
