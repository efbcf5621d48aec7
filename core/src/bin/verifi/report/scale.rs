//! Where on the picture a moment is. Long times in which nothing happened are cut out.

/// Of the picture's width, for each time that was cut out.
const CUT: f64 = 4.0;
/// What the name of a moment takes.
const ROOM: f64 = 5.0;
const MOST_CUTS: usize = 8;

/// Milliseconds on percent of the width.
pub struct Scale {
    parts: Vec<Part>,
}

/// A time in which something happens.
struct Part {
    start: f64,
    end: f64,
    /// Where it begins, and how much a millisecond is.
    left: f64,
    per_ms: f64,
}

impl Scale {
    /// For what happens in these times, at least one.
    pub fn new(mut times: Vec<(f64, f64)>) -> Scale {
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut busy: Vec<(f64, f64)> = Vec::new();
        for (start, end) in times {
            match busy.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => busy.push((start, end)),
            }
        }
        Scale { parts: lay_out(&join(&busy)) }
    }

    pub fn at(&self, ms: f64) -> f64 {
        let after = self.parts.partition_point(|part| part.end < ms);
        match self.parts.get(after).or(self.parts.last()) {
            Some(part) => part.left + (ms.clamp(part.start, part.end) - part.start) * part.per_ms,
            None => 0.0,
        }
    }

    /// The times that were cut out: where, and how long each was.
    pub fn cuts(&self) -> impl Iterator<Item = (f64, f64)> {
        self.parts.windows(2).map(|pair| (pair[1].left - CUT / 2.0, pair[1].start - pair[0].end))
    }

    /// Moments to name on the axis, in milliseconds since the beginning.
    pub fn ticks(&self) -> Vec<f64> {
        const STEPS: [f64; 21] = [
            1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 3e5, 6e5, 1.8e6,
            3.6e6, 1.44e7,
        ];
        let total: f64 = self.parts.iter().map(|part| part.end - part.start).sum();
        let step = STEPS.into_iter().find(|step| total / step <= 8.0).unwrap_or(8.64e7);
        let Some(origin) = self.parts.first().map(|part| part.start) else { return Vec::new() };
        let mut ticks: Vec<f64> = Vec::new();
        for part in &self.parts {
            let first = (part.start - origin) / step;
            let steps = (0..100).map(|number| (first.ceil() + f64::from(number)) * step);
            // After a time that was cut out the axis begins anew.
            for tick in [part.start - origin].into_iter().chain(steps) {
                let has_room = ticks.last().is_none_or(|last| self.at(origin + tick) - self.at(origin + last) >= ROOM);
                if tick <= part.end - origin && has_room {
                    ticks.push(tick);
                }
            }
        }
        ticks
    }
}

/// Bridges all idle times but the longest: those that would take a third of the picture from what happened.
fn join(busy: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let idle: Vec<f64> = busy.windows(2).map(|pair| pair[1].0 - pair[0].1).collect();
    let mut longest = idle.clone();
    longest.sort_by(|a, b| b.total_cmp(a));
    let whole = busy.last().map_or(0.0, |last| last.1) - busy.first().map_or(0.0, |first| first.0);
    let mut rest = whole;
    let mut shortest_cut = f64::INFINITY;
    for gap in longest.into_iter().take(MOST_CUTS) {
        if gap < 1000.0 || gap < rest / 3.0 {
            break;
        }
        rest -= gap;
        shortest_cut = gap;
    }
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (at, time) in busy.iter().enumerate() {
        match joined.last_mut() {
            Some(last) if idle[at - 1] < shortest_cut => last.1 = time.1,
            _ => joined.push(*time),
        }
    }
    joined
}

fn lay_out(times: &[(f64, f64)]) -> Vec<Part> {
    let cuts = times.len().saturating_sub(1) as f64 * CUT;
    // A moment alone has a width, too.
    let width = |time: &(f64, f64)| (time.1 - time.0).max(1.0);
    let per_ms = (100.0 - cuts) / times.iter().map(width).sum::<f64>();
    let mut left = 0.0;
    let mut parts = Vec::new();
    for time in times {
        parts.push(Part { start: time.0, end: time.1, left, per_ms });
        left += width(time) * per_ms + CUT;
    }
    parts
}
