//! What is printed: lines that fit the terminal, in colour where there is one.

use std::env;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write, stdout};
use std::sync::{Mutex, MutexGuard, PoisonError};

use terminal_size::{Width, terminal_size};

/// Below this many columns the timeline leaves out what it can.
const WIDE: usize = 80;
/// Below this many, slot and evidence as well.
const MEDIUM: usize = 58;
/// What time, outcome and latency take.
const NARROWEST: usize = 32;
const WITHOUT_TERMINAL: usize = 100;

#[derive(Clone, Copy)]
pub enum Colour {
    Green = 32,
    Yellow = 33,
    Red = 31,
    Magenta = 35,
    Grey = 90,
    Plain = 0,
}

/// One call as the timeline shows it.
pub struct Row<'a> {
    pub time: &'a str,
    pub slot: &'a str,
    pub server: &'a str,
    pub tool: &'a str,
    pub outcome: &'a str,
    pub latency_ms: f64,
    pub bytes: u64,
}

/// Standard output. Once it cannot be written, nothing more is, and [`Screen::end`] says why: whoever reads may have
/// gone, as in `verifi show run.jsonl | head`.
pub struct Screen {
    width: usize,
    coloured: bool,
    output: Mutex<Output>,
}

struct Output {
    writer: BufWriter<Stdout>,
    is_live: bool,
    fault: Option<io::Error>,
}

impl Screen {
    /// Each line is seen at once.
    pub fn new() -> Screen {
        let terminal = stdout().is_terminal();
        let wants_none = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let output = Output { writer: BufWriter::with_capacity(64 << 10, stdout()), is_live: true, fault: None };
        Screen { width: columns(), coloured: terminal && !wants_none, output: Mutex::new(output) }
    }

    /// Lines are seen when there are many, or at the end.
    #[allow(dead_code, reason = "the demo prints few")]
    pub fn buffered() -> Screen {
        let screen = Screen::new();
        screen.output().is_live = stdout().is_terminal();
        screen
    }

    pub fn line(&self, text: &str) {
        let mut output = self.output();
        if output.fault.is_some() {
            return;
        }
        let written = writeln!(output.writer, "{text}");
        let written = if output.is_live { written.and_then(|()| output.writer.flush()) } else { written };
        output.fault = written.err();
    }

    /// Whether anyone still reads.
    #[allow(dead_code, reason = "the demo goes on all the same")]
    pub fn is_open(&self) -> bool {
        self.output().fault.is_none()
    }

    /// Everything is out, or could not be written.
    #[allow(dead_code, reason = "the demo goes on all the same")]
    pub fn end(&self) -> io::Result<()> {
        let mut output = self.output();
        match output.fault.take() {
            Some(fault) => Err(fault),
            None => output.writer.flush(),
        }
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn title(&self, text: &str) {
        for line in wrap(text, self.width) {
            self.line(&line);
        }
        self.line(&self.paint(Colour::Grey, &"─".repeat(self.width.min(WIDE))));
    }

    pub fn row(&self, row: &Row) {
        let outcome = self.paint(outcome_colour(row.outcome), &format!("{:<11}", row.outcome));
        let (latency, bytes) = (milliseconds(row.latency_ms), size(row.bytes));
        let (slot, server, tool) = (row.slot, row.server, row.tool);
        let time = self.paint(Colour::Grey, if self.width < WIDE { &clock(row.time)[..8] } else { clock(row.time) });
        if self.width >= WIDE {
            self.line(&format!("{time}  {slot:<8} {server:<9} {tool:<12} {outcome}  {latency:>9}  {bytes:>9}"));
        } else if self.width >= MEDIUM {
            self.line(&format!("{time} {slot} {tool:<11} {outcome} {latency:>8} {bytes:>8}"));
        } else {
            let room = self.width.saturating_sub(NARROWEST).max(4);
            let tool = cut(tool, room);
            self.line(&format!("{time} {tool:<room$} {outcome} {latency:>10}"));
        }
    }

    /// A line below a row. It is cut where the terminal ends.
    pub fn note(&self, colour: Colour, text: &str) {
        let indent = if self.width < WIDE { 9 } else { 14 };
        let text = cut(text, self.width.saturating_sub(indent));
        self.line(&format!("{:indent$}{}", "", self.paint(colour, &text)));
    }

    /// News that must not be overlooked: broken into lines rather than cut.
    pub fn announce(&self, text: &str) {
        for line in wrap(text, self.width.saturating_sub(2)) {
            self.line(&self.paint(Colour::Magenta, &format!("! {line}")));
        }
    }

    /// A table: the first two columns to the left, the others to the right, a line before the last row.
    pub fn table(&self, rows: &[[String; 6]]) {
        let mut widths = [0; 6];
        for (column, width) in widths.iter_mut().enumerate() {
            *width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        }
        let total = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
        for (index, row) in rows.iter().enumerate() {
            if index == 1 || index + 1 == rows.len() {
                self.line(&self.paint(Colour::Grey, &"─".repeat(total)));
            }
            let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| match column {
                0 | 1 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            self.line(&cells.collect::<Vec<_>>().join("  "));
        }
    }

    fn paint(&self, colour: Colour, text: &str) -> String {
        match colour {
            Colour::Plain => text.to_owned(),
            _ if !self.coloured => text.to_owned(),
            _ => format!("\x1b[{}m{text}\x1b[0m", colour as u8),
        }
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

pub fn milliseconds(value: f64) -> String {
    format!("{value:.1} ms")
}

pub fn size(bytes: u64) -> String {
    format!("{bytes} B")
}

fn outcome_colour(outcome: &str) -> Colour {
    match outcome {
        "ok" => Colour::Green,
        "tool_error" | "refused" => Colour::Yellow,
        _ => Colour::Red,
    }
}

/// `01:02:03.004` of `2026-12-02T01:02:03.004Z`.
fn clock(timestamp: &str) -> &str {
    timestamp.get(11..23).unwrap_or("--:--:--.---")
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// The columns of the terminal. `COLUMNS` stands above it, where it is set.
fn columns() -> usize {
    let wanted = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let found = || stdout().is_terminal().then(terminal_size).flatten().map(|(Width(width), _)| usize::from(width));
    wanted.or_else(found).filter(|columns| *columns > 0).unwrap_or(WITHOUT_TERMINAL)
}
