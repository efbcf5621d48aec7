//! What the clients in Rust have in common: they read what to do and say how it went. `tests/bench/README.md` has the
//! lines.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

/// What is to be done: `TOOL COUNT WIDTH`.
pub struct Turn {
    /// The tool that is called.
    pub tool: String,
    /// How often, all in all.
    pub count: usize,
    /// How many calls are under way at once.
    pub width: usize,
}

impl Turn {
    fn parse(line: &str) -> Option<Turn> {
        let mut fields = line.split_ascii_whitespace();
        let tool = fields.next()?.to_owned();
        let (count, width) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Turn { tool, count, width })
    }

    /// How many calls each of those makes that are at work at once.
    pub fn each(&self) -> usize {
        self.count / self.width
    }
}

/// How it went.
#[derive(Default)]
pub struct Times {
    /// How long each call took.
    pub each: Vec<Duration>,
    /// The text of the last answer.
    pub last: String,
}

impl Times {
    /// A call begins. The text of the one before is let go of.
    pub fn begin(&mut self) -> Instant {
        self.last = String::new();
        Instant::now()
    }

    /// A call has ended.
    pub fn keep(&mut self, begin: Instant, text: String) {
        self.each.push(begin.elapsed());
        self.last = text;
    }

    /// Those of several that were at work at once.
    pub fn of_all(all: impl IntoIterator<Item = Result<Times, String>>) -> Result<Times, String> {
        all.into_iter().try_fold(Times::default(), |mut sum, times| {
            let times = times?;
            sum.each.extend(times.each);
            sum.last = times.last;
            Ok(sum)
        })
    }

    fn line(&self, took: Duration) -> String {
        let redacted = self.last.matches("[REDACTED]").count();
        let mut line =
            format!(r#"{{"ns":{},"bytes":{},"redacted":{redacted},"each":["#, took.as_nanos(), self.last.len());
        for (at, time) in self.each.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let _ = write!(line, "{comma}{}", time.as_nanos());
        }
        line + "]}"
    }
}

/// Takes turns until the input ends.
pub fn take(mut turn: impl FnMut(&Turn) -> Result<Times, String>) -> Result<(), String> {
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let asked = Turn::parse(&line).ok_or_else(|| format!("{line}: TOOL COUNT WIDTH is meant"))?;
        let start = Instant::now();
        let said = match turn(&asked) {
            Ok(times) => times.line(start.elapsed()),
            Err(error) => serde_json::json!({"error": error}).to_string(),
        };
        writeln!(io::stdout(), "{said}").map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The last arguments of every client: the server's URL, and the file that has a secret on each line.
pub fn place(mut arguments: impl Iterator<Item = String>) -> Result<(String, Vec<String>), String> {
    let (Some(url), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("URL and SECRETS are missing".into());
    };
    let secrets = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    Ok((url, secrets.lines().map(str::to_owned).collect()))
}
