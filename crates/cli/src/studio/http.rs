//! As much of HTTP/1.1 as the studio needs: one request and one answer for each connection, with a limit on everything.
//!
//! A small server of its own costs less than a dependency here, and what it accepts can be read on one page: request line and headers
//! of at most 16 kB, bodies of announced length up to 64 kB, all within some seconds.
//!
//! Reference: RFC 9112, HTTP/1.1.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest request line with all headers, bytes.
const HEAD: usize = 16 * 1024;
/// Longest body, bytes.
const BODY: usize = 64 * 1024;
/// Longest time a request may take to come, and an answer to go.
const PATIENCE: Duration = Duration::from_secs(5);

/// What somebody asks for.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The path, with the query if there is one.
    pub target: String,
    /// Names in lower case and values.
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What it gets.
#[derive(Debug)]
pub struct Answer {
    code: u16,
    kind: &'static str,
    bytes: Vec<u8>,
}

impl Answer {
    /// Something of a kind.
    pub fn new(bytes: Vec<u8>, kind: &'static str) -> Self {
        Self { code: 200, kind, bytes }
    }

    /// A sentence.
    pub fn plain(code: u16, text: &str) -> Self {
        Self { code, kind: "text/plain; charset=utf-8", bytes: format!("{text}\n").into_bytes() }
    }

    /// Sends it and ends the connection.
    pub fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let reason = match self.code {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            411 => "Length Required",
            413 => "Content Too Large",
            _ => "Request Header Fields Too Large",
        };
        // Nothing from elsewhere, nothing inside other pages, nothing told to others.
        let head = format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; \
             img-src 'self' data: blob:; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
            self.code,
            self.kind,
            self.bytes.len()
        );
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.bytes)?;
        stream.shutdown(std::net::Shutdown::Write)?;
        // What is still on its way is read and forgotten, else the system would take the answer back.
        stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        let mut rest = [0; 4096];
        for _ in 0..64 {
            if !matches!(stream.read(&mut rest), Ok(n) if n > 0) {
                break;
            }
        }
        Ok(())
    }
}

/// Reads a request; the inner error is the answer to one that is not acceptable.
pub fn read(stream: &mut TcpStream) -> io::Result<Result<Request, Answer>> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > HEAD {
            return Ok(Err(Answer::plain(431, "too many headers")));
        }
        more(stream, &mut bytes, deadline)?;
    };
    let (mut request, length) = match parse(&bytes[..head]) {
        Ok(parsed) => parsed,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        more(stream, &mut body, deadline)?;
    }
    body.truncate(length);
    request.body = body;
    Ok(Ok(request))
}

/// Reads what has come, before a deadline.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    let mut part = [0; 4096];
    match stream.read(&mut part)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        n => {
            bytes.extend_from_slice(&part[..n]);
            Ok(())
        }
    }
}

/// The request line and the headers, and the length of the body.
fn parse(head: &[u8]) -> Result<(Request, usize), Answer> {
    let bad = || Answer::plain(400, "not a request");
    let text = std::str::from_utf8(head).map_err(|_| bad())?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (first.next(), first.next(), first.next(), first.next())
    else {
        return Err(bad());
    };
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or_else(bad)?;
        let name = name.to_ascii_lowercase();
        let word = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        // Two hosts or two lengths are two opinions: neither is to be trusted.
        if !word || headers.iter().any(|(known, _)| *known == name) {
            return Err(bad());
        }
        headers.push((name, value.trim().to_owned()));
    }
    let request = Request { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new() };
    if request.header("transfer-encoding").is_some() {
        return Err(Answer::plain(411, "say how long the body is"));
    }
    let length = match request.header("content-length") {
        None => 0,
        Some(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => match text.parse::<usize>() {
            Ok(length) if length <= BODY => length,
            _ => return Err(Answer::plain(413, "too long")),
        },
        Some(_) => return Err(bad()),
    };
    Ok((request, length))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn code(head: &str) -> u16 {
        parse(head.as_bytes()).map_or_else(|answer| answer.code, |_| 200)
    }

    #[test]
    fn requests_are_read() {
        let (request, length) = parse(b"POST /x?y HTTP/1.1\r\nHost: a:1\r\nContent-Length: 3").unwrap();
        assert_eq!((request.method.as_str(), request.target.as_str(), length), ("POST", "/x?y", 3));
        assert_eq!(request.header("host"), Some("a:1"));
        assert_eq!(request.header("origin"), None);
    }

    #[test]
    fn odd_requests_are_refused() {
        assert_eq!(code("GET / HTTP/1.1"), 200);
        for head in [
            "",
            "GET /",
            "GET / HTTP/2",
            "GET  / HTTP/1.1",
            "GET / HTTP/1.1\r\nno colon",
            "GET / HTTP/1.1\r\n: empty",
            "GET / HTTP/1.1\r\n folded: line",
            "GET / HTTP/1.1\r\nHost: a\r\nhost: b",
            "GET / HTTP/1.1\r\nContent-Length: -1",
            "GET / HTTP/1.1\r\nContent-Length: 1, 1",
        ] {
            assert_eq!(code(head), 400, "{head:?}");
        }
        assert_eq!(code("POST / HTTP/1.1\r\nTransfer-Encoding: chunked"), 411);
        assert_eq!(code("POST / HTTP/1.1\r\nContent-Length: 65537"), 413);
        assert_eq!(code("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999999"), 413);
    }
}
