//! What the demo prints: lines that fit the terminal, in colour where there is one.

use std::env;
use std::io::{IsTerminal, Write, stdout};
use std::process::{Command, Stdio};

/// Below this many columns the timeline leaves out what it can.
const WIDE: usize = 76;
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

pub struct Screen {
    width: usize,
    coloured: bool,
}

impl Screen {
    pub fn new() -> Screen {
        let terminal = stdout().is_terminal();
        let wants_none = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let width = if terminal { terminal_width() } else { None };
        Screen { width: width.unwrap_or(WITHOUT_TERMINAL), coloured: terminal && !wants_none }
    }

    pub fn line(&self, text: &str) {
        // Whoever reads may have gone, as in `make demo | head`: the run goes on.
        let _ = writeln!(stdout(), "{text}");
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
        if self.width < WIDE {
            let time = self.paint(Colour::Grey, &clock(row.time)[..8]);
            self.line(&format!("{time} {slot} {tool:<11} {outcome} {latency:>8} {bytes:>8}"));
        } else {
            let time = self.paint(Colour::Grey, clock(row.time));
            self.line(&format!("{time}  {slot:<5} {server:<9} {tool:<12} {outcome}  {latency:>9}  {bytes:>9}"));
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

/// The columns of the terminal, by `stty`: the standard library does not know them.
fn terminal_width() -> Option<usize> {
    let output = Command::new("stty").arg("size").stdin(Stdio::inherit()).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.split_whitespace().nth(1)?.parse().ok()
}
