//! Text and numbers as they stand in the page.

use std::fmt::{self, Display, Formatter, Write};

/// Text that came from outside. It may stand between tags and in a quoted attribute.
pub struct Safe<'a>(pub &'a str);

impl Display for Safe<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' => f.write_str("&#10;")?,
                // What would change the order of the text around it, or is nothing that can be shown.
                '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => f.write_char('\u{FFFD}')?,
                control if control.is_control() => f.write_char('\u{FFFD}')?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// A number of bytes: `999 B`, `1.2 kB`, `34 MB`.
pub struct Bytes(pub u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut value = self.0 as f64;
        for unit in ["B", "kB", "MB", "GB"] {
            if value < 999.5 {
                let digits = usize::from(value < 9.95 && unit != "B");
                return write!(f, "{value:.digits$} {unit}");
            }
            value /= 1000.0;
        }
        write!(f, "{value:.1} TB")
    }
}

/// A time in milliseconds: `0.4 ms`, `12 ms`, `3.1 s`, `2 min 5 s`, `3 h 20 min`.
pub struct Millis(pub f64);

impl Display for Millis {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let millis = self.0;
        let whole = |part: f64| part.floor() as u64;
        match millis {
            _ if millis < 9.95 => write!(f, "{millis:.1} ms"),
            _ if millis < 999.5 => write!(f, "{millis:.0} ms"),
            _ if millis < 9_950.0 => write!(f, "{:.1} s", millis / 1e3),
            _ if millis < 59_500.0 => write!(f, "{:.0} s", millis / 1e3),
            _ if millis < 3.6e6 => two(f, (whole(millis / 6e4), "min"), (whole(millis % 6e4 / 1e3), "s")),
            _ if millis < 8.64e7 => two(f, (whole(millis / 3.6e6), "h"), (whole(millis % 3.6e6 / 6e4), "min")),
            _ => two(f, (whole(millis / 8.64e7), "d"), (whole(millis % 8.64e7 / 3.6e6), "h")),
        }
    }
}

fn two(f: &mut Formatter<'_>, large: (u64, &str), small: (u64, &str)) -> fmt::Result {
    write!(f, "{} {}", large.0, large.1)?;
    if small.0 > 0 { write!(f, " {} {}", small.0, small.1) } else { Ok(()) }
}

/// A count with its thousands apart.
pub struct Count(pub u64);

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_char('\u{202F}')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}

/// `1 call`, `2 calls`.
pub fn counted(count: u64, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {one}{plural}", Count(count))
}
