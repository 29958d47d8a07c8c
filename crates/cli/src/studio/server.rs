//! The server of the studio: it listens on the loopback only and answers nobody but its own pages.
//!
//! The address holds a random token of 128 bits; without it there is nothing to see. Requests must name this server as their host, so that
//! no other name can be made to point here, and, if a page made them, this server as their origin. Bodies are small. Nothing is
//! read from or written to the disk on request.
//!
//! | address after the token | answer |
//! |---|---|
//! | `GET /` | the page |
//! | `GET /viewer.js` | its script |
//! | `GET /stream` | server-sent events: `begin` (an animation of the first frame), `frames`, `state` |
//! | `GET /animation.json`, `/motion.glb`, `/scene.toml` | the last run |
//! | `POST /command` | an order, see [`Command`] |

use super::http::{self, Answer, Request};
use super::page;
use super::show::Show;
use super::stage::{Command, Stage};
use crate::exit::Exit;
use dalembert::picture::{Animation, codec, gltf};
use serde_json::json;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Most connections at a time.
const CONNECTIONS: usize = 256;
/// Shortest time between two messages to a page: 60 in a second.
const BEAT: Duration = Duration::from_micros(16_600);
/// A page that hears nothing for so long gets a sign of life, by which those that have gone are found.
const SIGN: Duration = Duration::from_millis(1000);
/// Most frames in one message.
const BATCH: usize = 400;

/// A listening server.
pub struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
    address: String,
    script: &'static str,
    show: Arc<Show>,
    stage: Arc<Stage>,
    connections: AtomicUsize,
}

impl Server {
    /// Listens on a port of the loopback; 0 for any that is free.
    pub fn start(port: u16, script: &'static str, show: Arc<Show>, stage: Arc<Stage>) -> Result<Self, Exit> {
        let place = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let failed = |error| Exit::io(&format!("listen on {place}"), &error);
        let listener = TcpListener::bind(place).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(|error| Exit::Io(format!("cannot get random numbers: {error}")))?;
        let token: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let address = format!("http://127.0.0.1:{port}/{token}/");
        Ok(Self { listener, port, token, address, script, show, stage, connections: AtomicUsize::new(0) })
    }

    /// Where the page is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Answers for ever, each connection in a thread of its own.
    pub fn serve(&self) {
        std::thread::scope(|scope| {
            for stream in self.listener.incoming() {
                // A connection that failed before it began is no concern of ours.
                let Ok(stream) = stream else { continue };
                if self.connections.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS {
                    self.connections.fetch_sub(1, Ordering::SeqCst);
                    continue;
                }
                scope.spawn(move || {
                    // Whoever asked may be gone; nothing depends on the answer.
                    let _ = self.converse(stream);
                    self.connections.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
    }

    fn converse(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let answer = match http::read(&mut stream)? {
            Err(refusal) => refusal,
            Ok(request) => match self.admit(&request) {
                Err(refusal) => refusal,
                Ok(("GET", "stream")) => return tell(&self.show, &mut stream),
                Ok(("POST", "command")) => self.command(&request.body),
                Ok(("GET", place)) => self.get(place),
                Ok(_) => Answer::plain(405, "only GET and POST"),
            },
        };
        answer.write(&mut stream)
    }

    /// The method and the place after the token, if the request comes from where it should.
    fn admit<'r>(&self, request: &'r Request) -> Result<(&'r str, &'r str), Answer> {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        if !request.header("host").is_some_and(|host| hosts.iter().any(|own| own == host)) {
            return Err(Answer::plain(403, "unknown host"));
        }
        let own_origin = |origin: &str| hosts.iter().any(|host| origin.strip_prefix("http://") == Some(host));
        let foreign = request.header("origin").is_some_and(|origin| !own_origin(origin));
        let cross = request.header("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"));
        if foreign || cross {
            return Err(Answer::plain(403, "foreign origin"));
        }
        let path = request.target.split(['?', '#']).next().unwrap_or_default();
        let (given, place) = match path.strip_prefix('/').and_then(|path| path.split_once('/')) {
            Some((given, place)) => (given, Some(place)),
            None => ("", None),
        };
        // Compared in full, so that the time taken tells nothing.
        let differing = given.len() ^ self.token.len()
            | given.bytes().zip(self.token.bytes()).fold(0, |sum, (a, b)| sum | usize::from(a ^ b));
        match place {
            Some(place) if differing == 0 => Ok((&request.method, place)),
            _ => Err(Answer::plain(403, "the address lacks its token; use the one that `dalembert view` printed")),
        }
    }

    fn get(&self, place: &str) -> Answer {
        let nothing = || Answer::plain(404, "no run has ended yet");
        match place {
            "" => Answer::new(page::page().into_bytes(), "text/html; charset=utf-8"),
            "viewer.js" => Answer::new(self.script.as_bytes().to_vec(), "text/javascript; charset=utf-8"),
            "scene.toml" => Answer::new(self.show.look().scene.clone().into_bytes(), "application/toml"),
            "animation.json" => {
                let text = self.show.look().animation.clone();
                text.map_or_else(nothing, |text| Answer::new(text.into_bytes(), "application/json"))
            }
            "motion.glb" => {
                let text = self.show.look().animation.clone();
                let model = text.and_then(|text| Animation::from_json(&text).ok()).and_then(|a| gltf::write(&a).ok());
                model.map_or_else(nothing, |bytes| Answer::new(bytes, "model/gltf-binary"))
            }
            _ => Answer::plain(404, "there is nothing here"),
        }
    }

    fn command(&self, body: &[u8]) -> Answer {
        match serde_json::from_slice::<Command>(body) {
            Ok(command) => {
                self.stage.take(command);
                Answer::plain(200, "done")
            }
            Err(error) => Answer::plain(400, &format!("not an order: {error}")),
        }
    }
}

/// Tells one page everything that is new, at most sixty times a second.
fn tell(show: &Show, page: &mut TcpStream) -> std::io::Result<()> {
    page.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
          X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
    )?;
    let (mut epoch, mut version, mut sent) = (u64::MAX, u64::MAX, 0);
    let mut told = Instant::now();
    loop {
        let begun = Instant::now();
        let mut text = String::new();
        {
            let content = show.wait((epoch, version, sent), SIGN);
            let message = |text: &mut String, kind: &str, data: &str| {
                *text += &format!("event: {kind}\ndata: {data}\n\n");
            };
            if content.epoch != epoch {
                (epoch, sent) = (content.epoch, 0);
                if let Some(header) = &content.header {
                    message(&mut text, "begin", &format!("{{\"epoch\":{epoch},\"animation\":{header}}}"));
                }
            }
            let frames = &content.frames;
            let (to, width) = (frames.times.len().min(sent + BATCH), frames.width);
            if sent < to {
                let rows = &frames.rows[sent * width..to * width];
                let bytes: Vec<u8> = rows.iter().flat_map(|x| x.to_le_bytes()).collect();
                let data = json!({
                    "epoch": epoch, "first": sent, "times": &frames.times[sent..to], "rows": codec::base64(&bytes),
                    "time": content.progress.0, "steps": content.progress.2,
                });
                message(&mut text, "frames", &data.to_string());
                sent = to;
            }
            if content.version != version {
                version = content.version;
                message(&mut text, "state", &content.state().to_string());
            }
        }
        if text.is_empty() && told.elapsed() >= SIGN {
            text = ": still here\n\n".to_owned();
        }
        if !text.is_empty() {
            page.write_all(text.as_bytes())?;
            told = Instant::now();
        }
        std::thread::sleep(BEAT.saturating_sub(begun.elapsed()));
    }
}
