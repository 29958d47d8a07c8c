//! `dalembert optimise` with several goals: page, tables, threads, and a search that is stopped and goes on.

use super::*;
use tempfile::tempdir;

/// A mass is lifted from rest to rest: effort against time.
pub const LIFT: &str = r#"
[optimise]
scene = "bouncing-ball"
method = "dmocc"
intervals = 8
[[control]]
name = "force"
on = "body.ball.velocity.z"
[[phase]]
duration = [0.3, 3.0]
without = ["contact.floor", "panel.height"]
start = { configuration = [0, 0, 0], velocity = "rest" }
end = { configuration = [0, 0, 0.5], velocity = "rest" }
[[goal]]
name = "effort"
integral = "effort"
[[goal]]
name = "time"
time = true
[front]
spacing = 0.15
samples = 4
"#;

/// Effort falls as time grows along what is not dominated; the page leads to the record of each kind, and numbers of threads change nothing.
#[test]
fn a_front_has_its_page_and_tables() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("lift.toml"), LIFT).unwrap();
    let ended = dalembert(folder.path(), &["optimise", "lift.toml", "--out", "one", "--jobs", "1"]).with(0);
    // Without a terminal stages are told by lines.
    assert!(ended.err.contains("Samples: ") && ended.err.contains("Following: "), "{}", ended.err);
    let told = dalembert(folder.path(), &["optimise", "lift.toml", "--out", "two", "--jobs", "2", "--json"]).with(0);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["complete"], true);
    assert_eq!(read(folder.path().join("one/front.csv")), read(folder.path().join("two/front.csv")));
    let page = read(folder.path().join("one/report.html"));
    for word in ["kind 1: ", "href=\"kind-1/report.html\"", "Controls of kind 1", "Motion of kind 1"] {
        assert!(page.contains(word), "{word}");
    }
    for file in ["front.json", "front-time.svg", "kind-1/report.html", "kind-1/trajectory.csv", "journal"] {
        assert!(folder.path().join("one").join(file).exists(), "{file}");
    }
    // Again: all answers are in the journal, the table is the same.
    dalembert(folder.path(), &["optimise", "lift.toml", "--out", "one"]).with(0);
    assert_eq!(read(folder.path().join("one/front.csv")), read(folder.path().join("two/front.csv")));
}

/// Ctrl-C ends the search with what there is; the same command goes on, to the front of a search that was never stopped.
#[cfg(unix)]
#[test]
fn a_stopped_search_goes_on() {
    use std::time::Duration;
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("lift.toml"), LIFT.replace("0.15", "0.02")).unwrap();
    let arguments = |out: &'static str| ["optimise", "lift.toml", "--jobs", "1", "--quiet", "--out", out];
    dalembert(folder.path(), &arguments("whole")).with(0);
    // The signal comes when something has been solved; the search may have ended meanwhile.
    let stopped = (0..8).any(|_| {
        let mut command = command(folder.path(), &arguments("parts"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let journal = folder.path().join("parts/journal");
        while std::fs::metadata(&journal).map_or(0, |file| file.len()) < 1000 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap();
        let ended = Ended::from(child.wait_with_output().unwrap());
        if ended.code != Some(130) {
            std::fs::remove_dir_all(folder.path().join("parts")).unwrap();
            return false;
        }
        true
    });
    assert!(stopped, "a search is longer than the way of a signal");
    dalembert(folder.path(), &arguments("parts")).with(0);
    assert_eq!(read(folder.path().join("parts/front.csv")), read(folder.path().join("whole/front.csv")));
}
